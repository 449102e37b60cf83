package import NIOCore

/// The three reserved bits of a header; an extension that was agreed upon gives them a meaning.
package struct WebSocketReservedBits: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// RSV1: the message is compressed (RFC 7692).
    package static let rsv1 = Self(rawValue: 0x40)
    package static let rsv2 = Self(rawValue: 0x20)
    package static let rsv3 = Self(rawValue: 0x10)
}

/// One frame, its payload unmasked.
package struct WebSocketFrame: Equatable, Sendable {
    package var isFinal: Bool
    package var reserved: WebSocketReservedBits
    package var opcode: WebSocketOpcode
    package var payload: ByteBuffer

    package init(isFinal: Bool = true, reserved: WebSocketReservedBits = [], opcode: WebSocketOpcode, payload: ByteBuffer = ByteBuffer()) {
        self.isFinal = isFinal
        self.reserved = reserved
        self.opcode = opcode
        self.payload = payload
    }
}
