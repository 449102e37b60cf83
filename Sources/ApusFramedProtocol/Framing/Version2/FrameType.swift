/// What a frame of version 2 is. An open set: a peer may know more than we do (``FrameFlags/optional``).
package struct FrameType: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The first frame of either side: version, capabilities, limits.
    package static let hello = Self(rawValue: 0)
    /// A message of the user's, or a piece of one.
    package static let message = Self(rawValue: 1)
    /// A file is offered.
    package static let offer = Self(rawValue: 2)
    /// The offer is taken, from an offset on.
    package static let accept = Self(rawValue: 3)
    /// A chunk of the file.
    package static let data = Self(rawValue: 4)
    /// The file is on the disk, written and synced, up to an offset.
    package static let ack = Self(rawValue: 5)
    /// The transfer is to be given up.
    package static let cancel = Self(rawValue: 6)
    /// It was.
    package static let cancelled = Self(rawValue: 7)
    /// All data was sent; its hash.
    package static let done = Self(rawValue: 8)
    /// The file stands under its name.
    package static let complete = Self(rawValue: 9)
    /// Something failed: a transfer, or with stream 0 the session.
    package static let error = Self(rawValue: 10)
    package static let ping = Self(rawValue: 11)
    package static let pong = Self(rawValue: 12)
    /// Nothing more comes from this side.
    package static let bye = Self(rawValue: 13)

    private static let names = [
        "hello", "message", "offer", "accept", "data", "ack", "cancel", "cancelled", "done", "complete", "error", "ping", "pong", "bye",
    ]

    /// Whether this implementation knows the type.
    package var isKnown: Bool { Int(self.rawValue) < Self.names.count }

    /// Whether a frame may have a body. The others say all in their headers. Of an unknown type nothing is known.
    package var mayHaveBody: Bool { self == .message || self == .data || self == .offer || !self.isKnown }

    package var description: String { self.isKnown ? Self.names[Int(self.rawValue)] : "type \(self.rawValue)" }
}

/// The bits beside a frame's type. The other six are zero.
package struct FrameFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// A receiver that does not know the type skips the frame; without this bit it answers an error.
    package static let optional = Self(rawValue: 0x01)
    /// More pieces of the same message follow.
    package static let more = Self(rawValue: 0x02)

    static let all: Self = [.optional, .more]
}
