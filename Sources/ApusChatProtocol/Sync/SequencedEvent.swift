/// An event with a sequence number in the log of its conversation.
package protocol SequencedEvent: Sendable {
    /// The sequence number. The log begins at 1 and has no holes (docs/chat-rules.md, 9).
    var seq: Int64 { get }
}
