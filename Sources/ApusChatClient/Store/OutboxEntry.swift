package import ApusChatProtocol
package import ApusJSON

/// A message of ours in the store that has no place in the local log yet.
package struct OutboxEntry: Sendable, Hashable {
    package var id: ClientID
    package var conversation: ConversationID
    package var kind: ChatEventKind
    package var body: JSONValue
    package var ref: Int64?
    /// Our clock when it was written, until the server has said its own.
    package var at: Int64
    /// `queued`, `refused`, or `sent`: acknowledged, while the log has not reached it.
    package var state: DeliveryState = .queued
    package var refusal: String?
    package var seq: Int64?
    package var number: Int64?
    /// A picture that is still to be uploaded, and what the user calls its type.
    package var attachmentType: String?
}
