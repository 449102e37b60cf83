import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore

/// Decodes any sequence of messages: no trap, errors are final, and packets survive a round trip.
///
/// The input is split at bytes 0xff, which UTF-8 does not use. A piece that starts with 0x00 is a
/// binary message, any other a text.
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
                checkUndecoded(packet)
            }
        } catch {
            precondition(failure == nil || failure == error, "a different error after the first")
            failure = error
        }
    }
    return 0
}

/// An undecoded packet that is encoded again decodes to the same packet.
private func checkUndecoded(_ packet: UndecodedPacket) {
    guard let encoded = try? SocketIOParser.json.encode(packet) else { preconditionFailure("an undecoded packet cannot be encoded") }
    var decoder = SocketIOParser.json.makeDecoder()
    var decoded: UndecodedPacket?
    for message in encoded { decoded = try? decoder.received(message) }
    precondition(decoded == packet, "the round trip changed the undecoded packet")
    let (head, arguments) = packet.content.parts
    var text: [UInt8] = []
    guard (try? SocketIOParser.json.writeText(of: head, arguments, namespace: packet.namespace, into: &text)) == true else { return }
    precondition(encoded == [.text(ByteBuffer(bytes: text))], "two encodings of one packet differ")
}

/// Checks the round trip with JSON and with MessagePack, which can represent all values of JSON.
private func checkRoundTrip(_ packet: SocketIOPacket) {
    for parser in [SocketIOParser.json, .messagePack] {
        guard let encoded = try? parser.encode(packet) else { preconditionFailure("a packet that was read cannot be written") }
        var decoder = parser.makeDecoder()
        for (index, message) in encoded.enumerated() {
            let decoded = try? decoder.received(message)
            precondition(decoded?.packet == (index == encoded.count - 1 ? packet : nil), "the round trip changed the packet")
        }
    }
}
