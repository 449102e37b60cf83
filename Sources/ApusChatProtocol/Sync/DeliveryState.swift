/// How far a message of ours got: `queued` → `sent` → `read`, or `queued` → `refused`.
///
/// Derived from what is stored, never moved by a receipt of its own (chat rules 1 and 3), so that one that comes late, twice or out of order
/// changes nothing.
public enum DeliveryState: String, Sendable, Hashable, Codable {
    /// In the outbox, on its way or waiting for a connection.
    case queued
    /// The server will not take it. It is not sent again.
    case refused
    /// The server has stored it.
    case sent
    /// The other side has read up to it.
    case read
}
