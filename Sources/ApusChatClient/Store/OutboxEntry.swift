import ApusChatProtocol
import ApusJSON

/// An outgoing message that is not in the local log yet.
struct OutboxEntry: Sendable, Hashable {
    var id: ClientID
    var conversation: ConversationID
    var kind: ChatEventKind
    var body: JSONValue
    var ref: Int64?
    /// The device's time of writing, replaced by the server's time after the acknowledgement.
    var at: Int64
    /// `queued`, `refused`, or `sent` between the acknowledgement and the event in the log.
    var state: DeliveryState = .queued
    var refusal: String?
    var seq: Int64?
    var number: Int64?
    /// The media type of a picture that is not uploaded yet, as declared by the caller.
    var attachmentType: String?
}
