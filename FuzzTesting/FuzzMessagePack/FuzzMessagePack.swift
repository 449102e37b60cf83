import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore

/// Reads any bytes as a value and as a packet: no trap, values and packets survive a round trip,
/// and the second encoding has the same bytes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessagePack(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count))

    if let value = try? MessagePack.read(input) {
        var written = ByteBuffer()
        precondition((try? MessagePack.write(value, into: &written)) != nil, "a value that was read cannot be written")
        precondition(written.readableBytes <= count * 24, "the encoding is too long")
        precondition((try? MessagePack.read(written)) == value, "the round trip changed the value")
    }

    for version in [SocketIOVersion.v5, .v4] {
        var decoder = SocketIOParser.messagePack.makeDecoder(version: version)
        guard let packet = try? decoder.received(.binary(input)) else { continue }
        guard let written = try? SocketIOParser.messagePack.encode(packet), written.count == 1, let message = written.first else {
            preconditionFailure("a packet that was read cannot be written")
        }
        precondition((try? decoder.received(message)) == packet, "the round trip changed the packet")
        precondition((try? SocketIOParser.messagePack.encode(packet)) == written, "two encodings of one packet")
    }
    return 0
}
