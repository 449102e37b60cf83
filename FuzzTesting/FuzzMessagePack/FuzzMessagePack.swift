import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore

/// Any bytes as a value and as a packet: no trap, and whatever is taken is written and read back as the same, the second time byte for byte.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMessagePack(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = ByteBuffer(bytes: UnsafeBufferPointer(start: start, count: count))

    if let value = try? MessagePack.read(input) {
        var written = ByteBuffer()
        precondition((try? MessagePack.write(value, into: &written)) != nil, "a value that was read cannot be written")
        precondition(written.readableBytes <= count * 24, "the value grew on its way")
        precondition((try? MessagePack.read(written)) == value, "the value changed on its way")
    }

    for version in [SocketIOVersion.v5, .v4] {
        var decoder = SocketIOParser.messagePack.makeDecoder(version: version)
        guard let packet = try? decoder.received(.binary(input)) else { continue }
        guard let written = try? SocketIOParser.messagePack.encode(packet), written.count == 1, let message = written.first else {
            preconditionFailure("a packet that was read cannot be written")
        }
        precondition((try? decoder.received(message)) == packet, "the packet changed on its way")
        precondition((try? SocketIOParser.messagePack.encode(packet)) == written, "two forms of one packet")
    }
    return 0
}
