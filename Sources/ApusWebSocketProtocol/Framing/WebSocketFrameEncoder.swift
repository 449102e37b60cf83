package import NIOCore

/// Encodes frames.
///
/// Source: RFC 6455 section 5.2.
package enum WebSocketFrameEncoder {
    /// The maximum length of a header: an 8-byte length and a masking key.
    package static let maximumHeaderBytes = 14

    /// Returns the length of a header.
    package static func headerLength(payloadLength: Int, isMasked: Bool) -> Int {
        let length =
            switch payloadLength {
            case ...125: 2
            case ...0xFFFF: 4
            default: 10
            }
        return isMasked ? length + 4 : length
    }

    /// Appends a header. The payload, masked with `maskingKey`, must follow.
    package static func writeHeader(
        opcode: WebSocketOpcode,
        isFinal: Bool = true,
        reserved: WebSocketReservedBits = .unset,
        payloadLength: Int,
        maskingKey: WebSocketMaskingKey?,
        into buffer: inout ByteBuffer
    ) {
        let header = Header(opcode, isFinal: isFinal, reserved: reserved, payloadLength: payloadLength, maskingKey: maskingKey)
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: header.length) { room in
            header.store(to: room)
            return header.length
        }
    }

    /// Appends a frame. A client must pass a fresh, unpredictable key (RFC 6455 section 5.3); a
    /// server must pass `nil`.
    package static func write(_ frame: WebSocketFrame, maskingKey: WebSocketMaskingKey?, into buffer: inout ByteBuffer) {
        self.write(
            frame.payload, opcode: frame.opcode, isFinal: frame.isFinal, reserved: frame.reserved, maskingKey: maskingKey, into: &buffer)
    }

    /// Appends a frame, header and payload in one step.
    package static func write(
        _ payload: ByteBuffer, opcode: WebSocketOpcode, isFinal: Bool = true, reserved: WebSocketReservedBits = .unset,
        maskingKey: WebSocketMaskingKey?, into buffer: inout ByteBuffer
    ) {
        let header = Header(opcode, isFinal: isFinal, reserved: reserved, payloadLength: payload.readableBytes, maskingKey: maskingKey)
        payload.withUnsafeReadableBytes { self.write($0, behind: header, into: &buffer) }
    }

    /// Appends an unfragmented text frame. `text` must be valid UTF-8.
    package static func write(text: [UInt8], maskingKey: WebSocketMaskingKey?, into buffer: inout ByteBuffer) {
        let header = Header(.text, isFinal: true, reserved: .unset, payloadLength: text.count, maskingKey: maskingKey)
        text.withUnsafeBytes { self.write($0, behind: header, into: &buffer) }
    }

    private static func write(_ payload: UnsafeRawBufferPointer, behind header: Header, into buffer: inout ByteBuffer) {
        let bytes = header.length &+ payload.count
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes) { room in
            header.store(to: room)
            guard !payload.isEmpty else { return bytes }
            let target = UnsafeMutableRawBufferPointer(rebasing: room[header.length..<bytes])
            (header.maskingKey ?? .zero).copy(payload, to: target)
            return bytes
        }
    }

    /// The first bytes of a frame.
    private struct Header {
        let first: UInt8
        let second: UInt8
        let payloadLength: Int
        let maskingKey: WebSocketMaskingKey?
        let length: Int

        init(
            _ opcode: WebSocketOpcode, isFinal: Bool, reserved: WebSocketReservedBits, payloadLength: Int, maskingKey: WebSocketMaskingKey?
        ) {
            self.first = (isFinal ? 0x80 : 0) | reserved.rawValue | opcode.rawValue
            let shortLength: UInt8 =
                switch payloadLength {
                case ...125: UInt8(truncatingIfNeeded: payloadLength)
                case ...0xFFFF: 126
                default: 127
                }
            self.second = (maskingKey == nil ? 0 : 0x80) | shortLength
            self.payloadLength = payloadLength
            self.maskingKey = maskingKey
            self.length = WebSocketFrameEncoder.headerLength(payloadLength: payloadLength, isMasked: maskingKey != nil)
        }

        /// Writes the header. `room` must have at least ``length`` bytes.
        func store(to room: UnsafeMutableRawBufferPointer) {
            room[0] = self.first
            room[1] = self.second
            switch self.second & 0x7F {
            case 126: room.storeBytes(of: UInt16(truncatingIfNeeded: self.payloadLength).bigEndian, toByteOffset: 2, as: UInt16.self)
            case 127: room.storeBytes(of: UInt64(truncatingIfNeeded: self.payloadLength).bigEndian, toByteOffset: 2, as: UInt64.self)
            default: break
            }
            guard let maskingKey else { return }
            // The word contains the four bytes in the machine's byte order.
            room.storeBytes(of: maskingKey.word, toByteOffset: self.length &- 4, as: UInt32.self)
        }
    }
}
