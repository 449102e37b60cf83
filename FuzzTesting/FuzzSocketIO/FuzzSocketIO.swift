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
                checkRoundTrip(packet)
                checkText(packet)
            }
        } catch {
            precondition(failure == nil || failure == error, "a different error after the first")
            failure = error
        }
    }
    return 0
}

/// The two encodings of a packet with one text message do not differ.
private func checkText(_ packet: SocketIOPacket) {
    var text: [UInt8] = []
    guard (try? SocketIOParser.json.writeText(of: packet.content, namespace: packet.namespace, into: &text)) == true else { return }
    let encoded = try? SocketIOParser.json.encode(packet)
    precondition(encoded == [.text(ByteBuffer(bytes: text))], "two encodings of one packet differ")
}

/// Checks the round trip with JSON and with MessagePack, which can represent all values of JSON.
private func checkRoundTrip(_ packet: SocketIOPacket) {
    for parser in [SocketIOParser.json, .messagePack] {
        guard let encoded = try? parser.encode(packet) else { preconditionFailure("a packet that was read cannot be written") }
        var decoder = parser.makeDecoder()
        for (index, message) in encoded.enumerated() {
            let decoded = try? decoder.received(message)
            precondition(decoded == (index == encoded.count - 1 ? packet : nil), "the round trip changed the packet")
        }
    }
}
