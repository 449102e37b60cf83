import ApusBytes
import ApusEngineIOProtocol
import NIOCore

/// Decodes any bytes as a frame, a body and base64 in either version: no trap, limits are enforced,
/// and decoded values survive a round trip.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEngineIO(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count))
    for version in [EngineIOVersion.v4, .v3] { fuzz(input, version) }

    var encoded = ByteBuffer()
    Base64.encode(input, into: &encoded)
    precondition(encoded.readableBytes == Base64.encodedLength(of: count), "the encoded length is wrong")
    precondition(Base64.decode(encoded) == input, "base64 changed the bytes")
    return 0
}

private func fuzz(_ input: ByteBuffer, _ version: EngineIOVersion) {
    let packets = EngineIOPacketCodec(version: version)
    let payloads = EngineIOPayloadCodec(version: version, maximumPackets: 64)

    if let packet = try? packets.decode(.text(input)) {
        var text = ByteBuffer()
        packets.encodeText(packet, into: &text)
        precondition((try? packets.decode(.text(text))) == packet, "the round trip changed the packet")
        // Every packet has one encoding, except the open packet with its JSON.
        if case .open = packet {} else { precondition(text == input, "two encodings of one packet") }
    }

    if let packet = try? packets.decode(.binary(input)) {
        precondition(packets.webSocketFrame(for: packet) == .binary(input), "the round trip changed the binary packet")
    }

    for isBinary in [false, true] {
        guard let decoded = try? payloads.decode(EngineIOPayload(bytes: input, isBinary: isBinary)) else { continue }
        precondition(decoded.count >= 1 && decoded.count <= 64, "more packets than the limit")
        for allowsBinary in [false, true] {
            precondition(
                (try? payloads.decode(payloads.encode(decoded, allowsBinary: allowsBinary))) == decoded, "the payload changed")
        }
    }
}
