import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore

/// Any conversation: no trap, errors are final, and whatever is taken is written and read back as the same packet.
///
/// The input is cut at bytes 0xff, which stand in no UTF-8. A piece that starts with 0x00 is a binary message, any other a text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSocketIO(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var decoder = SocketIOPacketDecoder()
    var failure: SocketIOError?
    for piece in UnsafeBufferPointer(start: start, count: count).split(separator: 0xff, omittingEmptySubsequences: false) {
        let message: EngineIOMessage = piece.first == 0 ? .binary(ByteBuffer(bytes: piece.dropFirst())) : .text(ByteBuffer(bytes: piece))
        do throws(SocketIOError) {
            let packet = try decoder.received(message)
            precondition(failure == nil, "a packet after an error")
            precondition(packet == nil || !decoder.isCollecting, "a packet, and still collecting")
            if let packet { checkRoundTrip(packet) }
        } catch {
            precondition(failure == nil || failure == error, "another error after the first")
            failure = error
        }
    }
    return 0
}

private func checkRoundTrip(_ packet: SocketIOPacket) {
    guard let encoded = try? SocketIOPacketEncoder.encode(packet) else {
        preconditionFailure("a packet that was read cannot be written")
    }
    var decoder = SocketIOPacketDecoder()
    var decoded = try? decoder.received(.text(encoded.text))
    for attachment in encoded.attachments {
        precondition(decoded == nil, "complete before its attachments")
        decoded = try? decoder.received(.binary(attachment))
    }
    precondition(decoded == packet, "the packet changed on its way")
}
