import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOCore
import Testing

/// A parser that uses the public API only. It supports events and sends each as two texts: the name
/// and the ack ID.
private struct TwoPartParser: SocketIOPacketParser {
    struct Failure: Error {}

    func encode(_ packet: SocketIOPacket) throws -> [EngineIOMessage] {
        guard case .event(let name, _, let ackID) = packet.content, name != "unspeakable" else { throw Failure() }
        return [.text(ByteBuffer(string: name)), .text(ByteBuffer(string: ackID.map(String.init) ?? ""))]
    }

    func makeDecoder() -> Decoder { Decoder() }

    struct Decoder: SocketIOPacketDecoder {
        private var name: String?

        mutating func received(_ message: EngineIOMessage) throws -> SocketIOPacket? {
            guard case .text(let text) = message else { throw Failure() }
            guard let name = self.name else {
                self.name = String(buffer: text)
                return nil
            }
            self.name = nil
            return SocketIOPacket(content: .event(name: name, arguments: [], ackID: Int(String(buffer: text))))
        }
    }
}

private func text(_ string: String) -> EngineIOMessage { .text(ByteBuffer(string: string)) }

@Suite("Custom parsers") struct SocketIOParserTests {
    private let parser = SocketIOParser.custom(TwoPartParser())

    @Test func writesAndReads() throws {
        let packet = SocketIOPacket(content: .event(name: "a", arguments: [], ackID: 5))
        let messages = try self.parser.encode(packet)
        #expect(messages == [text("a"), text("5")])
        var decoder = self.parser.makeDecoder()
        #expect(try decoder.received(messages[0]) == nil)
        #expect(try decoder.received(messages[1]) == packet)
        #expect(try decoder.received(messages[0]) == nil)
    }

    @Test func itsErrorsCloseTheConnectionPermanently() throws {
        var decoder = self.parser.makeDecoder()
        #expect(try decoder.received(text("a")) == nil)
        let error = try #require(throws: SocketIOError.self) { try decoder.received(.binary(ByteBuffer())) }
        #expect(error.code == .malformedPacket)
        #expect(error.cause is TwoPartParser.Failure)
        #expect(throws: error) { try decoder.received(text("a")) }
    }

    @Test(arguments: ["connect", "disconnecting"]) func itCannotPassAReservedName(name: String) throws {
        var decoder = self.parser.makeDecoder()
        #expect(try decoder.received(text(name)) == nil)
        #expect(throws: SocketIOError.self) { try decoder.received(text("")) }
        let error = #expect(throws: SocketIOError.self) {
            try self.parser.encode(SocketIOPacket(content: .event(name: name, arguments: [], ackID: nil)))
        }
        #expect(error?.code == .invalidUse)
    }

    @Test func itCannotPassANegativeAckId() throws {
        var decoder = self.parser.makeDecoder()
        #expect(try decoder.received(text("a")) == nil)
        #expect(throws: SocketIOError.self) { try decoder.received(text("-1")) }
    }

    @Test func anUnencodablePacketIsAnErrorOfTheCaller() {
        let error = #expect(throws: SocketIOError.self) {
            try self.parser.encode(SocketIOPacket(content: .event(name: "unspeakable", arguments: [], ackID: nil)))
        }
        #expect(error?.code == .invalidUse)
        #expect(error?.cause is TwoPartParser.Failure)
    }
}
