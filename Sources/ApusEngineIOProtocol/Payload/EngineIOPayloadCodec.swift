import ApusBytes
import NIOCore

/// Encodes and decodes the bodies of HTTP long-polling.
///
/// Source: Engine.IO protocol v4 and v3, "HTTP long-polling", "Packet encoding", "Payload".
public struct EngineIOPayloadCodec: Sendable {
    /// The revision of the protocol.
    public let version: EngineIOVersion
    /// The maximum number of packets in one body. A body of 1 MB can contain half a million
    /// packets, all decoded in one turn of the event loop.
    public let maximumPackets: Int
    let packets: EngineIOPacketCodec

    /// Creates a codec for a revision of the protocol.
    ///
    /// - Parameters:
    ///   - version: The revision of the protocol.
    ///   - maximumPackets: The maximum number of packets in one body.
    public init(version: EngineIOVersion, maximumPackets: Int) {
        self.version = version
        self.maximumPackets = maximumPackets
        self.packets = EngineIOPacketCodec(version: version)
    }

    /// Encodes packets as one body.
    ///
    /// - Parameters:
    ///   - packets: The packets, in this order.
    ///   - allowsBinary: Whether the receiver accepts the binary form, which version 3 uses for
    ///     binary messages (`b64=1` of a client forbids it). With `false`, binary messages are sent
    ///     as base64. Default: `true`.
    public func encode(_ packets: some Collection<EngineIOPacket>, allowsBinary: Bool = true) -> EngineIOPayload {
        switch self.version.payloadFraming {
        case .separated:
            return EngineIOPayload(bytes: self.encodeSeparated(packets))
        case .lengthPrefixed:
            if allowsBinary, packets.contains(where: \.isBinaryMessage) {
                return EngineIOPayload(bytes: self.encodeLengthPrefixedBinary(packets), isBinary: true)
            }
            return EngineIOPayload(bytes: self.encodeLengthPrefixedText(packets))
        }
    }

    /// Decodes the packets of a body. A malformed packet makes the whole body invalid.
    ///
    /// - Throws: ``EngineIOError/Code/malformedPayload`` for an empty body, text that is not UTF-8,
    ///   lengths that do not match the body, or a binary form that the version does not support;
    ///   ``EngineIOError/Code/tooManyPackets``; ``EngineIOError/Code/malformedPacket``.
    public func decode(_ payload: EngineIOPayload) throws(EngineIOError) -> [EngineIOPacket] {
        let bytes = payload.bytes
        guard bytes.readableBytes > 0 else {
            throw EngineIOError(.malformedPayload, message: "the payload is empty")
        }
        switch (self.version.payloadFraming, payload.isBinary) {
        case (.lengthPrefixed, true):
            return try self.decodeLengthPrefixedBinary(bytes)
        case (.separated, true):
            throw EngineIOError(
                .malformedPayload, message: "the payload is binary, which Engine.IO \(self.version.number) does not support")
        case (.separated, false):
            try Self.checkText(bytes)
            return try self.decodeSeparated(bytes)
        case (.lengthPrefixed, false):
            try Self.checkText(bytes)
            return try self.decodeLengthPrefixedText(bytes)
        }
    }

    /// Validates the UTF-8 of a body. The WebSocket layer validates text frames.
    static func checkText(_ bytes: ByteBuffer) throws(EngineIOError) {
        guard UTF8StreamValidator.isValid(bytes) else {
            throw EngineIOError(.malformedPayload, message: "the payload of \(bytes.readableBytes) bytes is not valid UTF-8")
        }
    }

    func tooManyPackets(_ body: ByteBuffer) -> EngineIOError {
        EngineIOError(
            .tooManyPackets,
            message: "the payload of \(body.readableBytes) bytes contains more than \(self.maximumPackets) packets (`maximumPackets`)")
    }
}

extension EngineIOPacket {
    /// Whether the packet is a binary message.
    package var isBinaryMessage: Bool {
        if case .message(.binary) = self { true } else { false }
    }
}
