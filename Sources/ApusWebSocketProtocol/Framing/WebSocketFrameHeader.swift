/// The first 2 to 14 bytes of a frame.
///
/// Source: RFC 6455 5.2, "Base Framing Protocol".
struct WebSocketFrameHeader: Equatable {
    var isFinal: Bool
    var reserved: WebSocketReservedBits
    var opcode: WebSocketOpcode
    var maskingKey: WebSocketMaskingKey?
    var headerLength: Int
    var payloadLength: Int

    /// Parses a header at the start of `bytes`. Returns `nil` if more bytes are needed.
    ///
    /// Checks the first two bytes before the others arrive.
    @inline(__always)
    static func parse(
        _ bytes: UnsafeRawBufferPointer,
        role: WebSocketRole,
        allowedReservedBits: WebSocketReservedBits
    ) throws(WebSocketError) -> Self? {
        guard bytes.count >= 2 else { return nil }
        let first = bytes[0]
        let second = bytes[1]

        // "MUST be 0 unless an extension is negotiated that defines meanings for non-zero values."
        let reserved = WebSocketReservedBits(rawValue: first & 0x70)
        guard reserved.isSubset(of: allowedReservedBits) else {
            throw WebSocketError(.protocolViolation, message: "reserved bits \(reserved.rawValue >> 4) are set without an extension")
        }
        // 5.2: "If an unknown opcode is received, the receiving endpoint MUST _Fail the WebSocket
        // Connection_."
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else {
            throw WebSocketError(.protocolViolation, message: "opcode \(first & 0x0F) is reserved")
        }
        let isFinal = first & 0x80 != 0
        // RFC 7692 6.1: "MUST NOT set the 'Per-Message Compressed' bit … on non-first fragments"
        guard opcode != .continuation || reserved.isEmpty else {
            throw WebSocketError(.protocolViolation, message: "reserved bits are set on a continuation frame")
        }
        // 5.1: "a server MUST close a connection upon receiving a frame that is not masked", and a
        // client one that is.
        let isMasked = second & 0x80 != 0
        guard isMasked != role.masks else {
            throw WebSocketError(.protocolViolation, message: isMasked ? "a server's frame is masked" : "a client's frame is not masked")
        }
        let shortLength = second & 0x7F
        // 5.5: "All control frames MUST have a payload length of 125 bytes or less and MUST NOT be
        // fragmented."
        if opcode.isControl {
            guard isFinal else { throw WebSocketError(.protocolViolation, message: "a control frame is fragmented") }
            guard shortLength <= 125 else { throw WebSocketError(.protocolViolation, message: "a control frame has more than 125 bytes") }
            guard reserved.isEmpty else { throw WebSocketError(.protocolViolation, message: "reserved bits are set on a control frame") }
        }

        var offset = 2
        let payloadLength: Int
        switch shortLength {
        case 126:
            guard bytes.count >= 4 else { return nil }
            let length = UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
            // "the minimal number of bytes MUST be used to encode the length"
            guard length > 125 else { throw WebSocketError(.protocolViolation, message: "length \(length) is not in its shortest form") }
            payloadLength = Int(length)
            offset = 4
        case 127:
            guard bytes.count >= 10 else { return nil }
            let length = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
            // "the most significant bit MUST be 0": a larger number does not fit an `Int` either
            // (CVE-2026-43678).
            guard let exact = Int(exactly: length) else {
                throw WebSocketError(.protocolViolation, message: "length \(length) has the top bit set")
            }
            guard exact > 0xFFFF else { throw WebSocketError(.protocolViolation, message: "length \(exact) is not in its shortest form") }
            payloadLength = exact
            offset = 10
        default:
            payloadLength = Int(shortLength)
        }

        var maskingKey: WebSocketMaskingKey?
        if isMasked {
            guard bytes.count >= offset + 4 else {
                // The length is known before the key arrives: let the caller check it now.
                return Self(
                    isFinal: isFinal, reserved: reserved, opcode: opcode, maskingKey: nil, headerLength: offset + 4,
                    payloadLength: payloadLength)
            }
            maskingKey = WebSocketMaskingKey(word: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            offset += 4
        }
        return Self(
            isFinal: isFinal, reserved: reserved, opcode: opcode, maskingKey: maskingKey, headerLength: offset, payloadLength: payloadLength
        )
    }
}
