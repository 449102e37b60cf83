package import NIOCore

/// Writes frames.
///
/// Source: RFC 6455 5.2.
package enum WebSocketFrameEncoder {
    /// The bytes a header takes.
    package static func headerLength(payloadLength: Int, isMasked: Bool) -> Int {
        let length =
            switch payloadLength {
            case ...125: 2
            case ...0xFFFF: 4
            default: 10
            }
        return isMasked ? length + 4 : length
    }

    /// Appends a header alone; the payload, mixed with `maskingKey`, must follow.
    package static func writeHeader(
        opcode: WebSocketOpcode,
        isFinal: Bool = true,
        reserved: WebSocketReservedBits = [],
        payloadLength: Int,
        maskingKey: WebSocketMaskingKey?,
        into buffer: inout ByteBuffer
    ) {
        let first = (isFinal ? 0x80 : 0) | reserved.rawValue | opcode.rawValue
        let mask: UInt8 = maskingKey == nil ? 0 : 0x80
        switch payloadLength {
        case ...125:
            buffer.writeInteger(UInt16(first) << 8 | UInt16(mask | UInt8(truncatingIfNeeded: payloadLength)))
        case ...0xFFFF:
            buffer.writeInteger(UInt16(first) << 8 | UInt16(mask | 126))
            buffer.writeInteger(UInt16(truncatingIfNeeded: payloadLength))
        default:
            buffer.writeInteger(UInt16(first) << 8 | UInt16(mask | 127))
            buffer.writeInteger(UInt64(payloadLength))
        }
        if let maskingKey {
            buffer.writeInteger(maskingKey.word, endianness: .host)  // the word is the four bytes in the machine's order
        }
    }

    /// Appends a whole frame. A client gives a fresh, unpredictable key (RFC 6455 5.3); a server gives none.
    package static func write(_ frame: WebSocketFrame, maskingKey: WebSocketMaskingKey?, into buffer: inout ByteBuffer) {
        let length = frame.payload.readableBytes
        buffer.reserveCapacity(minimumWritableBytes: Self.headerLength(payloadLength: length, isMasked: maskingKey != nil) + length)
        Self.writeHeader(
            opcode: frame.opcode, isFinal: frame.isFinal, reserved: frame.reserved, payloadLength: length, maskingKey: maskingKey,
            into: &buffer)
        let payloadStart = buffer.writerIndex
        buffer.writeImmutableBuffer(frame.payload)
        if let maskingKey, length > 0 {
            let offset = payloadStart - buffer.readerIndex
            buffer.withUnsafeMutableReadableBytes { bytes in
                maskingKey.apply(to: UnsafeMutableRawBufferPointer(rebasing: bytes[offset...]))
            }
        }
    }
}
