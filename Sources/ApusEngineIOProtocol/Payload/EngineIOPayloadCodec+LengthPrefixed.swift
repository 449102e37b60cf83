import NIOCore

/// Payloads of version 3: each packet follows its length.
///
/// The text form repeats `<length>:<packet>`. The length counts UTF-16 code units, as
/// `String.length` in JavaScript. The binary form is a byte 0 (text) or 1 (binary), the length in
/// bytes as decimal digits in one raw byte each, a byte 255, and the packet.
///
/// Source: Engine.IO protocol v3, "Payload"; the units as in engine.io-parser 2.
extension EngineIOPayloadCodec {
    private enum Marker {
        static let text: UInt8 = 0
        static let binary: UInt8 = 1
        static let endOfLength: UInt8 = 255
    }

    /// The maximum number of digits in a length, more than the length of any payload in memory
    /// requires.
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

    /// Decodes a payload of packets with their lengths in UTF-16 code units.
    ///
    /// - Precondition: `body` is valid UTF-8.
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
                    .malformedPayload, message: "the packet announces \(length) characters, but only \(rest.readableBytes) bytes remain")
            }
            decoded.append(try self.packets.decodeText(packet))
        }
        return decoded
    }

    /// Returns the number of UTF-16 code units of UTF-8 text: two for a character above U+FFFF, one
    /// for any other.
    private static func utf16Count(_ text: ByteBuffer) -> Int {
        text.withUnsafeReadableBytes { bytes in
            var count = 0
            for byte in bytes { count += self.utf16Units(startedBy: byte) }
            return count
        }
    }

    private static func utf16Units(startedBy byte: UInt8) -> Int {
        switch byte {
        case 0x80...0xbf: 0  // a continuation byte
        case 0xf0...: 2
        default: 1
        }
    }

    /// Returns the number of bytes that encode the first `units` UTF-16 code units. Returns `nil`
    /// if the text has fewer code units, or if the last code unit is half of a character.
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
                    .malformedPayload, message: "the packet marker must be 0 (text) or 1 (binary), not \(marker)")
            }
            let length = try Self.readLength(&rest, zero: 0, end: Marker.endOfLength)
            guard let packet = rest.readSlice(length: length) else {
                throw EngineIOError(
                    .malformedPayload, message: "the packet announces \(length) bytes, but only \(rest.readableBytes) remain")
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

    /// Reads a decimal number and the byte `end` after it.
    private static func readLength(_ rest: inout ByteBuffer, zero: UInt8, end: UInt8) throws(EngineIOError) -> Int {
        var length = 0
        var digits = 0
        while let byte = rest.readInteger(as: UInt8.self) {
            if byte == end, digits > 0 { return length }
            guard case let digit = byte &- zero, digit < 10, digits < self.maximumLengthDigits else { break }
            length = length * 10 + Int(digit)  // at most 15 digits: no overflow
            digits += 1
        }
        throw EngineIOError(.malformedPayload, message: "the length of a packet must be a decimal number")
    }
}
