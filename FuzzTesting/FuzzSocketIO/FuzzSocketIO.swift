import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore

/// Any conversation: no trap, errors are final, and whatever is taken is written and read back as the same packet.
///
/// The input is cut at bytes 0xff, which stand in no UTF-8. A piece that starts with 0x00 is a binary message, any other a text.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSocketIO(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var decoder = SocketIOParser.json.makeDecoder()
    var failure: SocketIOError?
    for piece in UnsafeBufferPointer(start: start, count: count).split(separator: 0xff, omittingEmptySubsequences: false) {
        let message: EngineIOMessage = piece.first == 0 ? .binary(ByteBuffer(bytes: piece.dropFirst())) : .text(ByteBuffer(bytes: piece))
        do throws(SocketIOError) {
            let packet = try decoder.received(message)
            precondition(failure == nil, "a packet after an error")
            if let packet {
                checkRoundTrip(packet.packet)
                checkPassedOn(packet)
            }
        } catch {
            precondition(failure == nil || failure == error, "another error after the first")
            failure = error
        }
    }
    return 0
}

/// What is passed on undecoded arrives as the same packet.
private func checkPassedOn(_ packet: UndecodedPacket) {
    guard let encoded = try? SocketIOParser.json.encode(packet) else { preconditionFailure("a packet that was read cannot be passed on") }
    var decoder = SocketIOParser.json.makeDecoder()
    var decoded: UndecodedPacket?
    for message in encoded { decoded = try? decoder.received(message) }
    precondition(decoded == packet, "the packet changed on being passed on")
    var text: [UInt8] = []
    guard (try? SocketIOParser.json.writeText(of: packet, into: &text)) == true else { return }
    precondition(encoded == [.text(ByteBuffer(bytes: text))], "two ways to write a packet differ")
}

/// By JSON, and by MessagePack, which can say all that JSON can.
private func checkRoundTrip(_ packet: SocketIOPacket) {
    for parser in [SocketIOParser.json, .messagePack] {
        guard let encoded = try? parser.encode(packet) else { preconditionFailure("a packet that was read cannot be written") }
        var decoder = parser.makeDecoder()
        for (index, message) in encoded.enumerated() {
            let decoded = try? decoder.received(message)
            precondition(decoded?.packet == (index == encoded.count - 1 ? packet : nil), "the packet changed on its way")
        }
    }
}
