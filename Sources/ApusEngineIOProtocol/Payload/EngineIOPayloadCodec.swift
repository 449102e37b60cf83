package import NIOCore

/// Writes and reads the bodies of HTTP long-polling: packets joined by the record separator 0x1e.
///
/// Source: Engine.IO protocol v4, "HTTP long-polling", "Packet encoding". JSON text never holds a raw 0x1e, and base64 neither; a text
/// message of a bare Engine.IO user that does would arrive as two packets, in every implementation.
package struct EngineIOPayloadCodec: Sendable {
    package let version: EngineIOVersion
    /// Packets taken from one body. A body of 1 MB can hold half a million, and one turn would do the work of all.
    package let maximumPackets: Int
    private let packets: EngineIOPacketCodec

    package init(version: EngineIOVersion, maximumPackets: Int) {
        self.version = version
        self.maximumPackets = maximumPackets
        self.packets = EngineIOPacketCodec(version: version)
    }

    /// The separator between two packets.
    package static let separator: UInt8 = 0x1e

    /// The body for these packets, in one allocation.
    package func encode(_ packets: some Collection<EngineIOPacket>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(packets.reduce(0) { $0 + 1 + self.packets.encodedLengthEstimate(of: $1) })
        var isFirst = true
        for packet in packets {
            if !isFirst { buffer.writeInteger(Self.separator) }
            isFirst = false
            self.packets.encodeText(packet, into: &buffer)
        }
        return buffer
    }

    /// The packets in a body. All or none: one wrong packet refuses the whole body.
    ///
    /// - Throws: ``EngineIOError/Code/malformedPayload`` for an empty body or text that is not UTF-8, ``EngineIOError/Code/tooManyPackets``,
    ///   ``EngineIOError/Code/malformedPacket``.
    package func decode(_ body: ByteBuffer) throws(EngineIOError) -> [EngineIOPacket] {
        guard body.readableBytes > 0 else {
            throw EngineIOError(.malformedPayload, message: "a payload of no bytes")
        }
        // A WebSocket checks the UTF-8 of its text frames; for a body this is the place.
        guard body.withUnsafeReadableBytes({ UTF8Validation.isValid($0) }) else {
            throw EngineIOError(.malformedPayload, message: "a payload of \(body.readableBytes) bytes that are not UTF-8")
        }
        let ends = body.withUnsafeReadableBytes { self.packetEnds(in: $0) }
        guard ends.count <= self.maximumPackets else {
            throw EngineIOError(
                .tooManyPackets, message: "more than \(self.maximumPackets) packets in one payload of \(body.readableBytes) bytes")
        }
        var decoded: [EngineIOPacket] = []
        decoded.reserveCapacity(ends.count)
        var start = 0
        for end in ends {
            guard let slice = body.getSlice(at: body.readerIndex + start, length: end - start) else {
                throw EngineIOError(.malformedPayload, message: "a packet beyond the end of its payload")
            }
            decoded.append(try self.packets.decodeText(slice))
            start = end + 1
        }
        return decoded
    }

    /// Where each packet ends, from the start of the readable bytes. Stops one above the bound: that is enough to refuse.
    private func packetEnds(in bytes: UnsafeRawBufferPointer) -> [Int] {
        var ends: [Int] = []
        for (index, byte) in bytes.enumerated() where byte == Self.separator {
            ends.append(index)
            if ends.count > self.maximumPackets { return ends }
        }
        ends.append(bytes.count)
        return ends
    }
}
