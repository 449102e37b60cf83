public import NIOCore

/// The three reserved bits of a header; an extension that was agreed upon gives them a meaning.
@usableFromInline
package struct WebSocketReservedBits: OptionSet, Hashable, Sendable {
    @usableFromInline
    package let rawValue: UInt8

    @inlinable
    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// None of them. The literal `[]` does the same in a hundred times as many instructions, where it is not specialized.
    @inlinable package static var unset: Self { Self(rawValue: 0) }

    /// RSV1: the message is compressed (RFC 7692).
    package static let rsv1 = Self(rawValue: 0x40)
    package static let rsv2 = Self(rawValue: 0x20)
    package static let rsv3 = Self(rawValue: 0x10)
}

/// One frame, its payload unmasked.
@usableFromInline
package struct WebSocketFrame: Equatable, Sendable {
    @usableFromInline package var isFinal: Bool
    @usableFromInline package var reserved: WebSocketReservedBits
    @usableFromInline package var opcode: WebSocketOpcode
    @usableFromInline package var payload: ByteBuffer
    /// Bytes of the same frame that have not come: this is a piece of it, and they follow as continuations.
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
