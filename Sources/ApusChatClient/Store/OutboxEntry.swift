import ApusChatProtocol
import ApusJSON

/// A message of ours in the store that has no place in the local log yet.
struct OutboxEntry: Sendable, Hashable {
    var id: ClientID
    var conversation: ConversationID
    var kind: ChatEventKind
    var body: JSONValue
    var ref: Int64?
    /// Our clock when it was written, until the server has said its own.
    var at: Int64
    /// `queued`, `refused`, or `sent`: acknowledged, while the log has not reached it.
    var state: DeliveryState = .queued
    var refusal: String?
    var seq: Int64?
    var number: Int64?
    /// A picture that is still to be uploaded, and what the user calls its type.
    var attachmentType: String?
}
