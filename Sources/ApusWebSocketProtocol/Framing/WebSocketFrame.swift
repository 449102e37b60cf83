public import NIOCore

/// The three reserved bits of a frame header, defined by negotiated extensions.
@usableFromInline
package struct WebSocketReservedBits: OptionSet, Hashable, Sendable {
    @usableFromInline
    package let rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The empty set. In generic code that the compiler does not specialize, the literal `[]`
    /// requires a hundred times as many instructions.
    @inlinable package static var unset: Self { Self(rawValue: 0) }

    /// RSV1: the message is compressed (RFC 7692).
    package static let rsv1 = Self(rawValue: 0x40)
    package static let rsv2 = Self(rawValue: 0x20)
    package static let rsv3 = Self(rawValue: 0x10)
}

/// A frame with its payload unmasked.
@usableFromInline
package struct WebSocketFrame: Equatable, Sendable {
    @usableFromInline package var isFinal: Bool
    @usableFromInline package var reserved: WebSocketReservedBits
    @usableFromInline package var opcode: WebSocketOpcode
    @usableFromInline package var payload: ByteBuffer
    /// The number of payload bytes that have not arrived. If it is not 0, this value is a piece of
    /// a frame, and continuations follow.
    @usableFromInline package var missing: Int

    @inlinable
    package init(
        isFinal: Bool = true, reserved: WebSocketReservedBits = .unset, opcode: WebSocketOpcode, payload: ByteBuffer = ByteBuffer(),
        missing: Int = 0
    ) {
        self.isFinal = isFinal
        self.reserved = reserved
        self.opcode = opcode
        self.payload = payload
        self.missing = missing
    }
}
