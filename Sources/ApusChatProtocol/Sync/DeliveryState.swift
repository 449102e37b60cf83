/// How far a message of ours got. It only moves forward: a receipt that comes late, twice or out of order changes nothing.
///
/// `queued` → `sent` → `delivered` → `read`, or `queued` → `refused`. A refusal is overtaken by proof that the server has the message.
///
/// Source: chat rules 1 and 3; style 3.17.
public enum DeliveryState: String, Sendable, Hashable, Codable, Comparable, CaseIterable {
    /// In the outbox, on its way or waiting for a connection.
    case queued
    /// The server will not take it. It is not sent again.
    case refused
    /// The server has stored it.
    case sent
    /// A device of the other side has it.
    case delivered
    /// The other side has read up to it.
    case read

    /// Moves to `other` when that is farther, else stays.
    public mutating func advance(to other: Self) { self = max(self, other) }

    /// Compares how far two states are.
    public static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .queued: 0
        case .refused: 1
        case .sent: 2
        case .delivered: 3
        case .read: 4
        }
    }
}
