/// What the cursor machine needs to know of an event: its place in the log of its conversation.
///
/// Source: chat model, "one gapless log per conversation".
package protocol SequencedEvent: Sendable {
    /// The place in the log. Starts at 1, without holes.
    var seq: Int64 { get }
}
