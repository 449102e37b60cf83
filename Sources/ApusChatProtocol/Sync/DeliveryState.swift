/// The delivery state of an outgoing message: `queued` → `sent` → `read`, or `queued` → `refused`.
///
/// The state is derived from stored values (docs/chat-rules.md, 1 and 10). A late, duplicate or
/// reordered acknowledgement therefore changes nothing.
public enum DeliveryState: String, Sendable, Hashable, Codable {
    /// In the outbox: sent without an acknowledgement so far, or waiting for a connection.
    case queued
    /// The server refused the message. The client does not send it again.
    case refused
    /// The server has stored the message.
    case sent
    /// All other members have read the message.
    case read
}
