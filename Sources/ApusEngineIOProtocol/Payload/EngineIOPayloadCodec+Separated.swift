import NIOCore

/// Payloads of version 4: packets joined by the record separator 0x1e.
///
/// Neither JSON nor base64 contains a raw 0x1e. A plain Engine.IO text message that does would
/// arrive as two packets, in every implementation of the protocol.
extension EngineIOPayloadCodec {
    /// The separator between two packets.
    package static let separator: UInt8 = 0x1e

    /// Encodes packets with one allocation.
    func encodeSeparated(_ packets: some Collection<EngineIOPacket>) -> ByteBuffer {
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

    func decodeSeparated(_ body: ByteBuffer) throws(EngineIOError) -> [EngineIOPacket] {
        let ends = body.withUnsafeReadableBytes { self.packetEnds(in: $0) }
        guard ends.count <= self.maximumPackets else { throw self.tooManyPackets(body) }
        var decoded: [EngineIOPacket] = []
        decoded.reserveCapacity(ends.count)
        var start = 0
        for end in ends {
            guard let slice = body.getSlice(at: body.readerIndex + start, length: end - start) else {
                throw EngineIOError(.malformedPayload, message: "a packet extends beyond the end of the payload")
            }
            decoded.append(try self.packets.decodeText(slice))
            start = end + 1
        }
        return decoded
    }

    /// Returns the end of each packet, as an offset in the readable bytes. Stops at
    /// `maximumPackets` + 1, which is enough to refuse the body.
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
