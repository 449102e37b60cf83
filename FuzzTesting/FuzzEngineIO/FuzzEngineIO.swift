import ApusEngineIOProtocol
import NIOCore

private let packets = EngineIOPacketCodec(version: .v4)
private let payloads = EngineIOPayloadCodec(version: .v4, maximumPackets: 64)

/// Any bytes as a text frame, as a body and as base64: no trap, bounds kept, and whatever is taken is written and read back as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzEngineIO(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count))

    if let packet = try? packets.decode(.text(input)) {
        var text = ByteBuffer()
        packets.encodeText(packet, into: &text)
        precondition((try? packets.decode(.text(text))) == packet, "the packet changed on its way")
        // All but the open packet, whose JSON may be written in many ways, has one form only.
        if case .open = packet {} else { precondition(text == input, "two texts for one packet") }
    }

    if let decoded = try? payloads.decode(input) {
        precondition(decoded.count >= 1 && decoded.count <= 64, "above the bound")
        precondition((try? payloads.decode(payloads.encode(decoded))) == decoded, "the payload changed on its way")
    }

    var encoded = ByteBuffer()
    Base64.encode(input, into: &encoded)
    precondition(encoded.readableBytes == Base64.encodedLength(of: count), "the length was estimated wrongly")
    precondition(Base64.decode(encoded) == input, "base64 changed the bytes")
    return 0
}
