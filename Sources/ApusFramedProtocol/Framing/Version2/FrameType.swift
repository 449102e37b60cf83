/// The type of a frame of version 2. An open set: the peer may send types that are unknown here
/// (``FrameFlags/optional``).
package struct FrameType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The first frame of either side: version, capabilities, limits.
    package static let hello = Self(rawValue: 0)
    /// A message of the application, or a piece of one.
    package static let message = Self(rawValue: 1)
    /// Offers a file.
    package static let offer = Self(rawValue: 2)
    /// Accepts an offer, starting at an offset.
    package static let accept = Self(rawValue: 3)
    /// Carries a chunk of the file.
    package static let data = Self(rawValue: 4)
    /// Acknowledges the bytes before an offset as written and synced.
    package static let ack = Self(rawValue: 5)
    /// Requests the cancellation of a transfer.
    package static let cancel = Self(rawValue: 6)
    /// Confirms the cancellation of a transfer.
    package static let cancelled = Self(rawValue: 7)
    /// Announces that all data was sent, with its hash.
    package static let done = Self(rawValue: 8)
    /// Confirms that the file has its final name.
    package static let complete = Self(rawValue: 9)
    /// Reports an error of a transfer or, with stream 0, of the session.
    package static let error = Self(rawValue: 10)
    package static let ping = Self(rawValue: 11)
    package static let pong = Self(rawValue: 12)
    /// Announces that this side sends nothing more.
    package static let bye = Self(rawValue: 13)

    private static let names = [
        "hello", "message", "offer", "accept", "data", "ack", "cancel", "cancelled", "done", "complete", "error", "ping", "pong", "bye",
    ]

    /// Whether this implementation recognizes the type.
    package var isKnown: Bool { Int(self.rawValue) < Self.names.count }

    /// Whether a frame of this type may have a body. The other known types have only a header.
    /// Unknown types may have either.
    package var mayHaveBody: Bool { self == .message || self == .data || self == .offer || !self.isKnown }

    package var description: String { self.isKnown ? Self.names[Int(self.rawValue)] : "type \(self.rawValue)" }
}

/// The flags of a frame. The other six bits are zero.
package struct FrameFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Permits a receiver to skip a frame of an unknown type. Without this flag it answers with an
    /// error.
    package static let optional = Self(rawValue: 0x01)
    /// Announces more pieces of the same message.
    package static let more = Self(rawValue: 0x02)

    static let all: Self = [.optional, .more]
}
