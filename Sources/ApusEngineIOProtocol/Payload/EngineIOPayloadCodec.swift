import ApusBytes
import NIOCore

/// Writes and reads the bodies of HTTP long-polling.
///
/// Source: Engine.IO protocol v4 and v3, "HTTP long-polling", "Packet encoding", "Payload".
package struct EngineIOPayloadCodec: Sendable {
    package let version: EngineIOVersion
    /// Packets taken from one body. A body of 1 MB can hold half a million, and one turn would do the work of all.
    package let maximumPackets: Int
    let packets: EngineIOPacketCodec

    package init(version: EngineIOVersion, maximumPackets: Int) {
        self.version = version
        self.maximumPackets = maximumPackets
        self.packets = EngineIOPacketCodec(version: version)
    }

    /// The body for these packets.
    ///
    /// - Parameter allowsBinary: Whether the receiver takes the binary form, which version 3 uses for binary messages (its client says no
    ///   with `b64=1`). Otherwise they travel as base64.
    package func encode(_ packets: some Collection<EngineIOPacket>, allowsBinary: Bool = true) -> EngineIOPayload {
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

    /// The packets in a body. All or none: one wrong packet refuses the whole body.
    ///
    /// - Throws: ``EngineIOError/Code/malformedPayload`` for an empty body, text that is not UTF-8, or a binary form that the version does
    ///   not have; ``EngineIOError/Code/tooManyPackets``; ``EngineIOError/Code/malformedPacket``.
    package func decode(_ payload: EngineIOPayload) throws(EngineIOError) -> [EngineIOPacket] {
        let bytes = payload.bytes
        guard bytes.readableBytes > 0 else {
            throw EngineIOError(.malformedPayload, message: "a payload of no bytes")
        }
        switch (self.version.payloadFraming, payload.isBinary) {
        case (.lengthPrefixed, true):
            return try self.decodeLengthPrefixedBinary(bytes)
        case (.separated, true):
            throw EngineIOError(.malformedPayload, message: "a binary payload, which version \(self.version.number) does not have")
        case (.separated, false):
            try Self.checkText(bytes)
            return try self.decodeSeparated(bytes)
        case (.lengthPrefixed, false):
            try Self.checkText(bytes)
            return try self.decodeLengthPrefixedText(bytes)
        }
    }

    /// A WebSocket checks the UTF-8 of its text frames; for a body this is the place.
    static func checkText(_ bytes: ByteBuffer) throws(EngineIOError) {
        guard UTF8StreamValidator.isValid(bytes) else {
            throw EngineIOError(.malformedPayload, message: "text of \(bytes.readableBytes) bytes that are not UTF-8")
        }
    }

    func tooManyPackets(_ body: ByteBuffer) -> EngineIOError {
        EngineIOError(.tooManyPackets, message: "more than \(self.maximumPackets) packets in one payload of \(body.readableBytes) bytes")
    }
}

extension EngineIOPacket {
    /// Whether the packet is a message of bytes.
    package var isBinaryMessage: Bool {
        if case .message(.binary) = self { true } else { false }
    }
}
