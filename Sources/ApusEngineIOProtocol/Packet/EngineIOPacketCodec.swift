import ApusBytes
package import NIOCore

/// Writes and reads single packets.
///
/// Source: Engine.IO protocol v4 and v3, "Packet encoding".
package struct EngineIOPacketCodec: Sendable {
    package let version: EngineIOVersion

    package init(version: EngineIOVersion) {
        self.version = version
    }

    // MARK: - Writing

    /// Appends the packet's text form: the payload of a WebSocket text frame, or one element of a polling payload. Binary becomes `b` and base64
    /// (`b4` and base64 in version 3).
    package func encodeText(_ packet: EngineIOPacket, into buffer: inout ByteBuffer) {
        switch packet {
        case .open(let handshake):
            buffer.writeInteger(EngineIOPacketType.open)
            handshake.writeJSON(into: &buffer)
        case .close:
            buffer.writeInteger(EngineIOPacketType.close)
        case .ping(let payload):
            buffer.writeInteger(EngineIOPacketType.ping)
            buffer.writeImmutableBuffer(payload)
        case .pong(let payload):
            buffer.writeInteger(EngineIOPacketType.pong)
            buffer.writeImmutableBuffer(payload)
        case .message(.text(let text)):
            buffer.writeInteger(EngineIOPacketType.message)
            buffer.writeImmutableBuffer(text)
        case .message(.binary(let bytes)):
            buffer.writeInteger(EngineIOPacketType.base64)
            if self.version.binaryCarriesType { buffer.writeInteger(EngineIOPacketType.message) }
            Base64.encode(bytes, into: &buffer)
        case .upgrade:
            buffer.writeInteger(EngineIOPacketType.upgrade)
        case .noop:
            buffer.writeInteger(EngineIOPacketType.noop)
        }
    }

    /// The WebSocket message that carries the packet: a binary message stands in a binary frame (raw, or behind a byte 4 in version 3), all
    /// else is text.
    package func webSocketFrame(for packet: EngineIOPacket) -> EngineIOMessage {
        if case .message(.binary(let bytes)) = packet {
            guard self.version.binaryCarriesType else { return .binary(bytes) }
            var typed = ByteBuffer()
            typed.reserveCapacity(1 + bytes.readableBytes)
            self.encodeBinary(bytes, into: &typed)
            return .binary(typed)
        }
        var buffer = ByteBuffer()
        buffer.reserveCapacity(self.encodedLengthEstimate(of: packet))
        self.encodeText(packet, into: &buffer)
        return .text(buffer)
    }

    /// Appends a binary message as version 3 writes it: its type as a raw byte, then the bytes.
    func encodeBinary(_ message: ByteBuffer, into buffer: inout ByteBuffer) {
        buffer.writeInteger(Self.binaryMessage)
        buffer.writeImmutableBuffer(message)
    }

    private static let binaryMessage: UInt8 = 4

    /// Bytes ``encodeText(_:into:)`` will append: exact but for the open packet.
    package func encodedLengthEstimate(of packet: EngineIOPacket) -> Int {
        switch packet {
        case .open: return 160
        case .close, .upgrade, .noop: return 1
        case .ping(let payload), .pong(let payload), .message(.text(let payload)): return 1 + payload.readableBytes
        case .message(.binary(let bytes)):
            return 1 + (self.version.binaryCarriesType ? 1 : 0) + Base64.encodedLength(of: bytes.readableBytes)
        }
    }

    // MARK: - Reading

    /// The packet a WebSocket message carries.
    ///
    /// - Throws: ``EngineIOError/Code/malformedPacket``.
    package func decode(_ frame: EngineIOMessage) throws(EngineIOError) -> EngineIOPacket {
        switch frame {
        case .binary(let bytes): return try self.decodeBinary(bytes)
        case .text(let text): return try self.decodeText(text)
        }
    }

    /// The text message in the text of a WebSocket message, when it is one: the same in every version.
    @inlinable
    package static func textMessage(in text: ByteBuffer) -> ByteBuffer? {
        guard text.getInteger(at: text.readerIndex, as: UInt8.self) == self.messageType else { return nil }
        var message = text
        message.moveReaderIndex(forwardBy: 1)
        return message
    }

    /// What stands before a text message.
    @inlinable package static var messageType: UInt8 { UInt8(ascii: "4") }

    /// The packet in a binary frame, or in a binary element of a version 3 payload. Only messages are binary.
    func decodeBinary(_ bytes: ByteBuffer) throws(EngineIOError) -> EngineIOPacket {
        guard self.version.binaryCarriesType else { return .message(.binary(bytes)) }
        var rest = bytes
        guard let type = rest.readInteger(as: UInt8.self), type == Self.binaryMessage else {
            throw EngineIOError(.malformedPacket, message: "a binary packet that is no message: it does not start with a byte 4")
        }
        return .message(.binary(rest))
    }

    /// The packet in a text frame, or in one element of a polling payload. Slices of `text` are kept, not copies.
    package func decodeText(_ text: ByteBuffer) throws(EngineIOError) -> EngineIOPacket {
        var rest = text
        guard let type = rest.readInteger(as: UInt8.self) else {
            throw EngineIOError(.malformedPacket, message: "a packet of no bytes")
        }
        switch type {
        case EngineIOPacketType.message:
            return .message(.text(rest))
        case EngineIOPacketType.base64:
            guard !self.version.binaryCarriesType || rest.readInteger(as: UInt8.self) == EngineIOPacketType.message else {
                throw EngineIOError(.malformedPacket, message: "a binary packet that is no message: it does not start with b4")
            }
            guard let bytes = Base64.decode(rest) else {
                throw EngineIOError(.malformedPacket, message: "a binary message of \(rest.readableBytes) bytes that are not padded base64")
            }
            return .message(.binary(bytes))
        case EngineIOPacketType.ping:
            return .ping(rest)
        case EngineIOPacketType.pong:
            return .pong(rest)
        case EngineIOPacketType.open:
            return .open(try EngineIOHandshake(json: rest))
        case EngineIOPacketType.close, EngineIOPacketType.upgrade, EngineIOPacketType.noop:
            guard rest.readableBytes == 0 else {
                throw EngineIOError(
                    .malformedPacket, message: "\(rest.readableBytes) bytes after a packet of type \(type - 0x30), which carries none")
            }
            if type == EngineIOPacketType.close { return .close }
            return type == EngineIOPacketType.upgrade ? .upgrade : .noop
        default:
            throw EngineIOError(.malformedPacket, message: "a packet of the unknown type byte \(type)")
        }
    }
}
