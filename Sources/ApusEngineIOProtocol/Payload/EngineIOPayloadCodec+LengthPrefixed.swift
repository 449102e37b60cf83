import NIOCore

/// Version 3: every packet behind its length.
///
/// The text form is `<length>:<packet>`, repeated, the length in UTF-16 code units, because JavaScript counted it. The binary form is a byte
/// 0 (text) or 1 (binary), the length in bytes as decimal digits in one raw byte each, a byte 255, and the packet.
///
/// Source: Engine.IO protocol v3, "Payload"; the units as the reference implementation (engine.io-parser 2) counts them.
extension EngineIOPayloadCodec {
    private enum Marker {
        static let text: UInt8 = 0
        static let binary: UInt8 = 1
        static let endOfLength: UInt8 = 255
    }

    /// More digits than any length that memory holds.
    private static let maximumLengthDigits = 15

    // MARK: Text

    func encodeLengthPrefixedText(_ packets: some Collection<EngineIOPacket>) -> ByteBuffer {
        var body = ByteBuffer()
        var scratch = ByteBuffer()
        for packet in packets {
            scratch.clear()
            self.packets.encodeText(packet, into: &scratch)
            body.writeString(String(Self.utf16Count(scratch)))
            body.writeInteger(UInt8(ascii: ":"))
            body.writeImmutableBuffer(scratch)
        }
        return body
    }

    /// `body` is known to be UTF-8.
    func decodeLengthPrefixedText(_ body: ByteBuffer) throws(EngineIOError) -> [EngineIOPacket] {
        var rest = body
        var decoded: [EngineIOPacket] = []
        while rest.readableBytes > 0 {
            guard decoded.count < self.maximumPackets else { throw self.tooManyPackets(body) }
            let length = try Self.readLength(&rest, zero: UInt8(ascii: "0"), end: UInt8(ascii: ":"))
            guard let count = rest.withUnsafeReadableBytes({ Self.byteCount(ofUTF16Units: length, in: $0) }),
                let packet = rest.readSlice(length: count)
            else {
                throw EngineIOError(
                    .malformedPayload, message: "a packet of \(length) characters announced, \(rest.readableBytes) bytes left")
            }
            decoded.append(try self.packets.decodeText(packet))
        }
        return decoded
    }

    /// How many UTF-16 code units the text has: one a character, two above U+FFFF. The text is known to be UTF-8.
    private static func utf16Count(_ text: ByteBuffer) -> Int {
        text.withUnsafeReadableBytes { bytes in
            var count = 0
            for byte in bytes { count += self.utf16Units(startedBy: byte) }
            return count
        }
    }

    private static func utf16Units(startedBy byte: UInt8) -> Int {
        switch byte {
        case 0x80...0xbf: 0  // a continuation
        case 0xf0...: 2
        default: 1
        }
    }

    /// How many bytes hold that many UTF-16 code units; nil when there are fewer, or when the count ends within a character.
    private static func byteCount(ofUTF16Units units: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
        var left = units
        var index = 0
        while index < bytes.count {
            let next = self.utf16Units(startedBy: bytes[index])
            if left == 0, next > 0 { break }
            left -= next
            guard left >= 0 else { return nil }
            index += 1
        }
        return left == 0 ? index : nil
    }

    // MARK: Binary

    func encodeLengthPrefixedBinary(_ packets: some Collection<EngineIOPacket>) -> ByteBuffer {
        var body = ByteBuffer()
        var scratch = ByteBuffer()
        for packet in packets {
            scratch.clear()
            if case .message(.binary(let bytes)) = packet {
                self.packets.encodeBinary(bytes, into: &scratch)
                body.writeInteger(Marker.binary)
            } else {
                self.packets.encodeText(packet, into: &scratch)
                body.writeInteger(Marker.text)
            }
            body.writeBytes(String(scratch.readableBytes).utf8.map { $0 - UInt8(ascii: "0") })
            body.writeInteger(Marker.endOfLength)
            body.writeImmutableBuffer(scratch)
        }
        return body
    }

    func decodeLengthPrefixedBinary(_ body: ByteBuffer) throws(EngineIOError) -> [EngineIOPacket] {
        var rest = body
        var decoded: [EngineIOPacket] = []
        while let marker = rest.readInteger(as: UInt8.self) {
            guard decoded.count < self.maximumPackets else { throw self.tooManyPackets(body) }
            guard marker == Marker.text || marker == Marker.binary else {
                throw EngineIOError(
                    .malformedPayload, message: "a packet that is marked neither as text (0) nor as binary (1) but \(marker)")
            }
            let length = try Self.readLength(&rest, zero: 0, end: Marker.endOfLength)
            guard let packet = rest.readSlice(length: length) else {
                throw EngineIOError(.malformedPayload, message: "a packet of \(length) bytes announced, \(rest.readableBytes) left")
            }
            if marker == Marker.binary {
                decoded.append(try self.packets.decodeBinary(packet))
            } else {
                try Self.checkText(packet)
                decoded.append(try self.packets.decodeText(packet))
            }
        }
        return decoded
    }

    /// Decimal digits up to `end`, which is read as well.
    private static func readLength(_ rest: inout ByteBuffer, zero: UInt8, end: UInt8) throws(EngineIOError) -> Int {
        var length = 0
        var digits = 0
        while let byte = rest.readInteger(as: UInt8.self) {
            if byte == end, digits > 0 { return length }
            guard case let digit = byte &- zero, digit < 10, digits < self.maximumLengthDigits else { break }
            length = length * 10 + Int(digit)  // fifteen digits at most
            digits += 1
        }
        throw EngineIOError(.malformedPayload, message: "a packet without its length")
    }
}
