import ApusBytes
import ApusEngineIOProtocol
import NIOCore

/// Any bytes as a frame, as a body and as base64, of either version: no trap, bounds kept, and whatever is taken is written and read back as the
/// same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEngineIO(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count))
    for version in [EngineIOVersion.v4, .v3] { fuzz(input, version) }

    var encoded = ByteBuffer()
    Base64.encode(input, into: &encoded)
    precondition(encoded.readableBytes == Base64.encodedLength(of: count), "the length was estimated wrongly")
    precondition(Base64.decode(encoded) == input, "base64 changed the bytes")
    return 0
}

private func fuzz(_ input: ByteBuffer, _ version: EngineIOVersion) {
    let packets = EngineIOPacketCodec(version: version)
    let payloads = EngineIOPayloadCodec(version: version, maximumPackets: 64)

    if let packet = try? packets.decode(.text(input)) {
        var text = ByteBuffer()
        packets.encodeText(packet, into: &text)
        precondition((try? packets.decode(.text(text))) == packet, "the packet changed on its way")
        // All but the open packet, whose JSON may be written in many ways, has one form only.
        if case .open = packet {} else { precondition(text == input, "two texts for one packet") }
    }

    if let packet = try? packets.decode(.binary(input)) {
        precondition(packets.webSocketFrame(for: packet) == .binary(input), "the binary packet changed on its way")
    }

    for isBinary in [false, true] {
        guard let decoded = try? payloads.decode(EngineIOPayload(bytes: input, isBinary: isBinary)) else { continue }
        precondition(decoded.count >= 1 && decoded.count <= 64, "above the bound")
        for allowsBinary in [false, true] {
            precondition(
                (try? payloads.decode(payloads.encode(decoded, allowsBinary: allowsBinary))) == decoded, "the payload changed on its way")
        }
    }
}
