import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import NIOCore
import Testing

private func received(_ text: String) throws -> SocketIOPacket {
    var decoder = SocketIOParser.json.makeDecoder()
    return try #require(try decoder.received(.text(ByteBuffer(string: text))))
}

private let table: [(wire: String, arguments: [SocketIOValue])] = [
    (#"2["e"]"#, []),
    (#"2["e",1,"two",[3,{"a":null}]]"#, [1, "two", [3, ["a": nil]]]),
    (#"2[ "e" , "a\nb" ]"#, ["a\nb"]),
    (#"2["\u0065","x"]"#, ["x"]),
]

@Suite struct SocketIOPayloadTests {
    @Test(arguments: table)
    func argumentsAreDecodedOnDemand(wire: String, arguments: [SocketIOValue]) throws {
        guard case .event("e", let payload, nil) = try received(wire).content else {
            Issue.record("no event")
            return
        }
        #expect(payload.arguments == arguments)
        #expect(payload == SocketIOPayload(arguments))
        #expect(payload.isEmpty == arguments.isEmpty)
        #expect(payload.detached == payload)
    }

    @Test func relayedTextIsUnchanged() throws {
        guard case .event(_, let payload, _) = try received(#"2["e", 1.50 ,{"a": "\u00e9"}]"#).content else {
            Issue.record("no event")
            return
        }
        let event = SocketIOPacket(namespace: "/n", content: .event(name: "f", arguments: payload, ackID: 7))
        #expect(try SocketIOParser.json.encode(event) == [.text(ByteBuffer(string: #"2/n,7["f",1.50 ,{"a": "\u00e9"}]"#))])
        var text: [UInt8] = []
        #expect(try SocketIOParser.json.writeText(of: .ack(id: 3, arguments: payload), namespace: "/", into: &text))
        #expect(String(decoding: text, as: UTF8.self) == #"33[1.50 ,{"a": "\u00e9"}]"#)
    }

    @Test func largeTextCanBeOmitted() throws {
        let large = String(repeating: "x", count: 16 << 10)
        guard case .event(_, let payload, _) = try received(#"2["e","\#(large)"]"#).content else {
            Issue.record("no event")
            return
        }
        #expect(payload.largeText == ByteBuffer(string: "\"\(large)\""))
        #expect(SocketIOPayload([.string(large)]).largeText == nil)
        var text: [UInt8] = []
        #expect(try SocketIOParser.json.writeText(of: .ack(id: 3, arguments: payload), omitsText: true, namespace: "/n", into: &text))
        let event = SocketIOPacket.Content.event(name: "f", arguments: payload, ackID: 4)
        #expect(try SocketIOParser.json.writeText(of: event, omitsText: true, namespace: "/", into: &text))
        #expect(String(decoding: text, as: UTF8.self) == #"3/n,3[]24["f",]"#)
    }

    @Test func anAcksArgumentsStayTextToo() throws {
        #expect(try received(#"35["a",2]"#).content == .ack(id: 5, arguments: ["a", 2]))
        #expect(try received("35[]").content == .ack(id: 5, arguments: []))
    }

    @Test func itLeavesTheMemoryOfALargeRead() throws {
        var read = ByteBuffer(string: #"2["e","a"]"#)
        let length = read.readableBytes
        read.writeRepeatingByte(0x20, count: 10_000)
        var decoder = SocketIOParser.json.makeDecoder()
        let slice = try #require(read.getSlice(at: 0, length: length))
        guard case .event(_, let payload, _)? = try decoder.received(.text(slice))?.content else {
            Issue.record("no event")
            return
        }
        #expect(payload.detached.arguments == ["a"])
    }

    @Test func binaryDataHasNoText() throws {
        var text: [UInt8] = []
        let packet = SocketIOPacket(content: .event(name: "e", arguments: [["a": .binary([1])]], ackID: nil))
        #expect(try !SocketIOParser.json.writeText(of: packet.content, namespace: "/", into: &text))
        #expect(text.isEmpty)
        #expect(try SocketIOParser.json.encode(packet).count == 2)
    }

    @Test func anyPacketThatIsOneTextIsWrittenAsThat() throws {
        var text: [UInt8] = []
        #expect(try SocketIOParser.json.writeText(of: .connect(["sid": "x"]), namespace: "/n", into: &text))
        #expect(String(decoding: text, as: UTF8.self) == #"0/n,{"sid":"x"}"#)
        #expect(try !SocketIOParser.messagePack.writeText(of: .connect(["sid": "x"]), namespace: "/n", into: &text))
    }

    @Test func invalidPacketsAreNotEncoded() {
        let cases: [(SocketIOPacket.Content, namespace: String)] = [
            (.event(name: "connect", arguments: [], ackID: nil), "/"), (.ack(id: -1, arguments: []), "/"),
            (.event(name: "e", arguments: [.double(.nan)], ackID: nil), "/"), (.ack(id: 1, arguments: []), "n"),
            (.ack(id: 1, arguments: []), "/a,b"),
        ]
        for (content, namespace) in cases {
            let error = #expect(throws: SocketIOError.self) {
                var text: [UInt8] = []
                _ = try SocketIOParser.json.writeText(of: content, namespace: namespace, into: &text)
            }
            #expect(error?.code == .invalidUse)
        }
    }

    @Test func onlyTheArgumentsOfAHandlerAreDecoded() throws {
        guard case .event(_, let payload, _) = try received(#"2["e",1,"two",{"a":[true]}]"#).content else {
            Issue.record("no event")
            return
        }
        let (number, text) = try SocketIOArguments.decode(payload, as: Int.self, String.self)
        #expect(number == 1)
        #expect(text == "two")
        let surplus = try SocketIOArguments.decode(payload, as: Int.self, String.self, [String: [Bool]].self, String?.self)
        #expect(surplus.2 == ["a": [true]])
        #expect(surplus.3 == nil)
        let error = #expect(throws: SocketIOError.self) { try SocketIOArguments.decode(payload, as: Int.self, Int.self) }
        #expect(error?.message.hasPrefix("argument 2 of 3") == true)
    }

    @Test(
        arguments: [
            (#"2["e",1,"a\u0041" ]"#, "aA"), (#"2["e","a",1]"#, nil), (#"2["e"]"#, nil), (#"2["e",["a"]]"#, nil), (#"2["e",""]"#, ""),
        ] as [(String, String?)])
    func itsLastTextIsKnown(wire: String, text: String?) throws {
        guard case .event("e", let payload, nil) = try received(wire).content else {
            Issue.record("no event")
            return
        }
        #expect(payload.lastText == text)
        #expect(SocketIOPayload(payload.arguments).lastText == text)
    }
}
