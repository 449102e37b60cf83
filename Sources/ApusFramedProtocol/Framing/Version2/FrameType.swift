/// The type of a frame of version 2. The peer may send types that this implementation does not
/// recognize (``FrameFlags/optional``).
public struct FrameType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The number on the wire.
    public let rawValue: UInt8

    /// Creates a type from its number on the wire.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The first frame of either side: version, capabilities, limits.
    public static let hello = Self(rawValue: 0)
    /// A message of the application, or a piece of one.
    public static let message = Self(rawValue: 1)
    /// Offers a file.
    public static let offer = Self(rawValue: 2)
    /// Accepts an offer, starting at an offset.
    public static let accept = Self(rawValue: 3)
    /// Contains a chunk of a file.
    public static let data = Self(rawValue: 4)
    /// Acknowledges the bytes before an offset as written and synced.
    public static let ack = Self(rawValue: 5)
    /// Requests the cancellation of a transfer.
    public static let cancel = Self(rawValue: 6)
    /// Confirms the cancellation of a transfer.
    public static let cancelled = Self(rawValue: 7)
    /// Announces that all data was sent, with its hash.
    public static let done = Self(rawValue: 8)
    /// Confirms that the file has its final name.
    public static let complete = Self(rawValue: 9)
    /// Reports an error of a transfer or, with stream 0, of the session.
    public static let error = Self(rawValue: 10)
    /// Requests a pong.
    public static let ping = Self(rawValue: 11)
    /// Answers a ping.
    public static let pong = Self(rawValue: 12)
    /// Announces that its sender sends nothing more.
    public static let bye = Self(rawValue: 13)

    private static let names = [
        "hello", "message", "offer", "accept", "data", "ack", "cancel", "cancelled", "done", "complete", "error", "ping", "pong", "bye",
    ]

    /// Whether this implementation recognizes the type.
    package var isKnown: Bool { Int(self.rawValue) < Self.names.count }

    /// Whether a frame of this type may have a body. The other known types have only a header.
    /// Unknown types may have either.
    package var mayHaveBody: Bool { self == .message || self == .data || self == .offer || !self.isKnown }

    /// The name of the type.
    public var description: String { self.isKnown ? Self.names[Int(self.rawValue)] : "type \(self.rawValue)" }
}

/// The flags of a frame. The other six bits are zero.
public struct FrameFlags: OptionSet, Hashable, Sendable {
    /// The bits on the wire.
    public let rawValue: UInt8

    /// Creates flags from their bits on the wire.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Permits a receiver to skip a frame of an unknown type. Without this flag, the receiver
    /// answers with an error.
    public static let optional = Self(rawValue: 0x01)
    /// Announces more pieces of the same message.
    public static let more = Self(rawValue: 0x02)

    static let all: Self = [.optional, .more]
}
