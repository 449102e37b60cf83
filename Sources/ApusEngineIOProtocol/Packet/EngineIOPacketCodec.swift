import ApusBytes
public import NIOCore

/// Encodes and decodes single packets.
///
/// Source: Engine.IO protocol v4 and v3, "Packet encoding".
public struct EngineIOPacketCodec: Sendable {
    /// The revision of the protocol.
    public let version: EngineIOVersion

    /// Creates a codec for a revision of the protocol.
    public init(version: EngineIOVersion) {
        self.version = version
    }

    // MARK: - Writing

    /// Appends the packet's text form, for a WebSocket text frame or one element of a polling
    /// payload. Binary becomes `b` and base64 (`b4` and base64 in version 3).
    ///
    /// - Parameters:
    ///   - packet: The packet.
    ///   - buffer: The buffer to append to.
    public func encodeText(_ packet: EngineIOPacket, into buffer: inout ByteBuffer) {
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

    /// Returns the WebSocket message for a packet. A binary message becomes a binary frame, which
    /// begins with a byte 4 in version 3. Every other packet becomes a text frame.
    public func webSocketFrame(for packet: EngineIOPacket) -> EngineIOMessage {
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

    /// Appends a binary message in the form of version 3: its type as a raw byte, then the bytes.
    func encodeBinary(_ message: ByteBuffer, into buffer: inout ByteBuffer) {
        buffer.writeInteger(Self.binaryMessage)
        buffer.writeImmutableBuffer(message)
    }

    private static let binaryMessage: UInt8 = 4

    /// Returns the number of bytes that ``encodeText(_:into:)`` appends. The number is an estimate
    /// for the open packet, and exact for all others.
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

    /// Decodes the packet in a WebSocket message.
    ///
    /// - Throws: ``EngineIOError/Code/malformedPacket`` if it is not a valid packet.
    public func decode(_ frame: EngineIOMessage) throws(EngineIOError) -> EngineIOPacket {
        switch frame {
        case .binary(let bytes): return try self.decodeBinary(bytes)
        case .text(let text): return try self.decodeText(text)
        }
    }

    /// Returns the text message in a WebSocket text, or `nil` for any other packet. The form is
    /// identical in all versions.
    @inlinable
    package static func textMessage(in text: ByteBuffer) -> ByteBuffer? {
        guard text.getInteger(at: text.readerIndex, as: UInt8.self) == self.messageType else { return nil }
        var message = text
        message.moveReaderIndex(forwardBy: 1)
        return message
    }

    /// The type byte of a text message.
    @inlinable package static var messageType: UInt8 { UInt8(ascii: "4") }

    /// Decodes a binary frame, or a binary element of a version 3 payload. Only messages are
    /// binary.
    func decodeBinary(_ bytes: ByteBuffer) throws(EngineIOError) -> EngineIOPacket {
        guard self.version.binaryCarriesType else { return .message(.binary(bytes)) }
        var rest = bytes
        guard let type = rest.readInteger(as: UInt8.self), type == Self.binaryMessage else {
            throw EngineIOError(.malformedPacket, message: "a binary packet must be a message, which begins with byte 4")
        }
        return .message(.binary(rest))
    }

    /// Decodes a text frame or one element of a polling payload. The packet shares the storage of
    /// `text`.
    ///
    /// - Throws: ``EngineIOError/Code/malformedPacket`` if it is not a valid packet.
    public func decodeText(_ text: ByteBuffer) throws(EngineIOError) -> EngineIOPacket {
        var rest = text
        guard let type = rest.readInteger(as: UInt8.self) else {
            throw EngineIOError(.malformedPacket, message: "the packet is empty")
        }
        switch type {
        case EngineIOPacketType.message:
            return .message(.text(rest))
        case EngineIOPacketType.base64:
            guard !self.version.binaryCarriesType || rest.readInteger(as: UInt8.self) == EngineIOPacketType.message else {
                throw EngineIOError(.malformedPacket, message: "a binary packet must be a message, which begins with `b4`")
            }
            guard let bytes = Base64.decode(rest) else {
                throw EngineIOError(.malformedPacket, message: "the binary message of \(rest.readableBytes) bytes is not padded base64")
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
                    .malformedPacket, message: "a packet of type \(type - 0x30) must have no payload, but has \(rest.readableBytes) bytes")
            }
            if type == EngineIOPacketType.close { return .close }
            return type == EngineIOPacketType.upgrade ? .upgrade : .noop
        default:
            throw EngineIOError(.malformedPacket, message: "the packet type byte \(type) is unknown")
        }
    }
}
