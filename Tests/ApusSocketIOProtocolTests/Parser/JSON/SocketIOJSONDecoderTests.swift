import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import NIOCore
import Testing

private func text(_ string: String) -> EngineIOMessage { .text(ByteBuffer(string: string)) }
private let one = EngineIOMessage.binary(ByteBuffer(bytes: [1]))
private let two = EngineIOMessage.binary(ByteBuffer(bytes: [2]))

@Suite struct SocketIOJSONDecoderTests {
    /// Node's socket.io-parser waits for an attachment after this packet.
    @Test func decoderIsReadyAfterAnAnnouncementOfNoAttachments() throws {
        var decoder = SocketIOJSONDecoder()
        #expect(try decoder.received(text(#"50-["a"]"#)) == SocketIOPacket(content: .event(name: "a", arguments: [], ackID: nil)))
        #expect(try decoder.received(text(#"2["b"]"#)) == SocketIOPacket(content: .event(name: "b", arguments: [], ackID: nil)))
    }

    @Test func attachmentsAreAwaitedOneByOne() throws {
        var decoder = SocketIOJSONDecoder()
        #expect(try decoder.received(text(#"52-["a",{"_placeholder":true,"num":1},{"_placeholder":true,"num":0}]"#)) == nil)
        #expect(try decoder.received(one) == nil)
        let packet = try decoder.received(two)
        #expect(packet == SocketIOPacket(content: .event(name: "a", arguments: [.binary([2]), .binary([1])], ackID: nil)))
        #expect(try decoder.received(text("1")) == SocketIOPacket(content: .disconnect))
    }

    @Test func anUnannouncedAttachmentIsAnError() {
        var decoder = SocketIOJSONDecoder()
        #expect(throws: SocketIOError.self) { try decoder.received(one) }
    }

    @Test func textInTheMiddleOfAttachmentsIsAnError() throws {
        var decoder = SocketIOJSONDecoder()
        #expect(try decoder.received(text(#"52-["a"]"#)) == nil)
        #expect(try decoder.received(one) == nil)
        #expect(throws: SocketIOError.self) { try decoder.received(text(#"2["b"]"#)) }
    }

    @Test func errorsAreFinal() throws {
        var decoder = SocketIOJSONDecoder()
        let first = try #require(throws: SocketIOError.self) { try decoder.received(text("2[]")) }
        for message in [text(#"2["a"]"#), one, text("")] {
            #expect(throws: first) { try decoder.received(message) }
        }
    }

    /// One megabyte used 30,000 times would become 30 GB when the event is relayed.
    @Test func attachmentGoesToOnePlaceOnly() throws {
        var decoder = SocketIOJSONDecoder()
        #expect(try decoder.received(text(#"51-["a",{"_placeholder":true,"num":0},{"_placeholder":true,"num":0}]"#)) == nil)
        #expect(throws: SocketIOError.self) { try decoder.received(one) }
    }

    @Test func wrongBinaryPacketIsRefusedBeforeItsAttachments() {
        for wire in [#"51-[]"#, #"51-{}"#, #"61-[]"#, #"51-["connect"]"#] {
            var decoder = SocketIOJSONDecoder()
            #expect(throws: SocketIOError.self) { try decoder.received(text(wire)) }
        }
    }

    @Test func bytesNeverTrap() {
        // Every text of one and two bytes, and every prefix of a long one.
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                var decoder = SocketIOJSONDecoder()
                _ = try? decoder.received(.text(ByteBuffer(bytes: [first, second])))
            }
        }
        let whole = Array(#"52-/admin,12["baz",{"_placeholder":true,"num":0},{"€":[{"_placeholder":true,"num":1}]}]"#.utf8)
        for count in whole.indices {
            var decoder = SocketIOJSONDecoder()
            #expect((try? decoder.received(.text(ByteBuffer(bytes: whole[..<count])))) == nil)
        }
    }
}
