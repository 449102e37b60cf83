import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import NIOCore
import Testing

private func event(_ name: String, _ arguments: SocketIOValue..., ack: Int? = nil) -> SocketIOPacket.Content {
    .event(name: name, arguments: SocketIOPayload(arguments), ackID: ack)
}

private func packet(_ content: SocketIOPacket.Content, _ namespace: String = "/") -> SocketIOPacket {
    SocketIOPacket(namespace: namespace, content: content)
}

/// Decodes a packet from its Engine.IO messages.
private func decode(_ text: String, _ attachments: [[UInt8]] = [], limits: SocketIOLimits = .init()) throws -> SocketIOPacket? {
    var decoder = SocketIOJSONDecoder(limits: limits)
    var decoded = try decoder.received(.text(ByteBuffer(string: text)))
    for attachment in attachments {
        #expect(decoded == nil)
        decoded = try decoder.received(.binary(ByteBuffer(bytes: attachment)))
    }
    return decoded
}

/// Socket.IO protocol v5, "Packet encoding" and "Sample session", line by line.
private let table: [(wire: String, attachments: [[UInt8]], packet: SocketIOPacket)] = [
    ("0", [], packet(.connect(nil))),
    (#"0{"sid":"oSO0OpakMV_3jnilAAAA"}"#, [], packet(.connect(["sid": "oSO0OpakMV_3jnilAAAA"]))),
    (#"0/admin,{"token":"123"}"#, [], packet(.connect(["token": "123"]), "/admin")),
    ("0/admin,", [], packet(.connect(nil), "/admin")),
    ("0/adm?tok=1,", [], packet(.connect(nil), "/adm?tok=1")),
    ("1", [], packet(.disconnect)),
    ("1/admin,", [], packet(.disconnect, "/admin")),
    (#"2["foo"]"#, [], packet(event("foo"))),
    (#"2["bar",1,"two",null,true,1.5,[],{}]"#, [], packet(event("bar", 1, "two", nil, true, 1.5, [], [:]))),
    (#"2/admin,["bar"]"#, [], packet(event("bar"), "/admin")),
    (#"212["foo"]"#, [], packet(event("foo", ack: 12))),
    (#"20["foo"]"#, [], packet(event("foo", ack: 0))),
    (#"2/admin,456["project:delete",123]"#, [], packet(event("project:delete", 123, ack: 456), "/admin")),
    ("3/admin,456[]", [], packet(.ack(id: 456, arguments: []), "/admin")),
    (#"312["bar"]"#, [], packet(.ack(id: 12, arguments: ["bar"]))),
    (#"4{"message":"Not authorized"}"#, [], packet(.connectError(["message": "Not authorized"]))),
    (#"4/admin,"no""#, [], packet(.connectError("no"), "/admin")),
    (#"51-["baz",{"_placeholder":true,"num":0}]"#, [[1, 2, 3, 4]], packet(event("baz", .binary([1, 2, 3, 4])))),
    (
        #"52-/admin,9["baz",{"_placeholder":true,"num":0},{"a":[{"_placeholder":true,"num":1}]}]"#, [[1], []],
        packet(event("baz", .binary([1]), ["a": [.binary([])]], ack: 9), "/admin")
    ),
    (#"61-/admin,456[{"_placeholder":true,"num":0}]"#, [[3, 2, 1]], packet(.ack(id: 456, arguments: [.binary([3, 2, 1])]), "/admin")),
    (#"2["€😀"]"#, [], packet(event("€😀"))),
]

@Suite struct SocketIOJSONCodecTests {
    @Test(arguments: table)
    func wireMatchesTheSpecification(wire: String, attachments: [[UInt8]], packet: SocketIOPacket) throws {
        let encoded = try SocketIOJSONEncoder.encode(packet)
        #expect(encoded == [.text(ByteBuffer(string: wire))] + attachments.map { .binary(ByteBuffer(bytes: $0)) })
        #expect(try decode(wire, attachments) == packet)
    }

    /// Packets in formats of other implementations that this one does not write.
    @Test(arguments: [
        ("0/admin", packet(.connect(nil), "/admin")),
        ("1/admin", packet(.disconnect, "/admin")),
        ("0/,", packet(.connect(nil))),
        (#"0{}"#, packet(.connect([:]))),
        (#"2 [ "a" , 1 ]"#, packet(event("a", 1))),
        (#"2[1,"x"]"#, packet(event("1", "x"))),
        (#"2[-0.5]"#, packet(event("-0.5"))),
        (#"2[1e3]"#, packet(event("1000"))),
        (#"2[""]"#, packet(event(""))),
        (#"2007["a"]"#, packet(event("a", ack: 7))),
        (#"50-["a"]"#, packet(event("a"))),
        ("60-1[]", packet(.ack(id: 1, arguments: []))),
        // Only a binary packet has placeholders.
        (#"2["a",{"_placeholder":true,"num":5}]"#, packet(event("a", ["_placeholder": true, "num": 5]))),
        (#"50-["a",{"_placeholder":false,"num":5}]"#, packet(event("a", ["_placeholder": false, "num": 5]))),
    ])
    func othersAreUnderstood(wire: String, packet: SocketIOPacket) throws {
        #expect(try decode(wire) == packet)
    }

    /// docs/hazards.md, 10. Each text is a parse error.
    @Test(arguments: [
        "", "7", "-", "x[\"a\"]", "2", "2[]", "2{}", "2123", "2/nsp", "2/nsp,", "2😀", #"2[{"toString":"foo"}]"#, "2[null]", "2[[]]",
        "2[true]",
        #"2["a"]x"#, #"2["a""#, #"2["a",]"#, "2\"a\"", "2null", #"2-1["a"]"#,
        "0[]", "0null", "01", #"0"a""#, "1{}", "1[]", "1null", "4", "4[]", "41", "4null",
        "3", "31", "3[]", "31{}", "3-1[]", "6", "61-", "61-[]", "60-[]",
        "5", "51", "51-", "5-", #"5-["a"]"#, #"5["a"]"#, #"5a-["a"]"#, #"5-1-["a"]"#, #"51.0-["a"]"#,
        #"2["connect"]"#, #"2["connect_error"]"#, #"2["disconnect"]"#, #"2["disconnecting"]"#, #"2["newListener"]"#,
        #"2["removeListener"]"#,
        #"51-["disconnect",{"_placeholder":true,"num":0}]"#,
        #"29223372036854775808["a"]"#, #"599999999999999999999-["a"]"#,
        #"50-["a",{"_placeholder":true,"num":0}]"#,
    ])
    func malformedTextIsRefused(wire: String) {
        #expect(throws: SocketIOError.self) { try decode(wire) }
    }

    @Test(arguments: ["5", "-1", #""x""#, "0.5", "1e99", "null", "true", "1"])
    func placeholderOutOfRangeIsRefused(number: String) {
        #expect(throws: SocketIOError.self) { try decode(#"51-["a",{"_placeholder":true,"num":\#(number)}]"#, [[1]]) }
        #expect(throws: SocketIOError.self) { try decode(#"51-["a",[{"b":{"_placeholder":true}}]]"#, [[1]]) }
    }

    @Test(arguments: [(announced: "10", accepted: true), ("11", false), ("9223372036854775807", false)])
    func attachmentBoundIsChecked(announced: String, accepted: Bool) {
        let result = Result { try decode(announced.isEmpty ? "" : "5\(announced)-[\"a\"]") }
        switch result {
        case .success(let packet): #expect(accepted && packet == nil)
        case .failure(let error): #expect(!accepted && (error as? SocketIOError)?.code == .tooManyAttachments)
        }
    }

    /// docs/hazards.md, 11.
    @Test func depthIsBounded() throws {
        func nested(_ depth: Int) -> String {
            "2[\"a\"," + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "]"
        }
        #expect(try decode(nested(511)) != nil)
        for depth in [512, 100_000] { #expect(throws: SocketIOError.self) { try decode(nested(depth)) } }
        #expect(throws: SocketIOError.self) { try decode("2[\"a\"," + String(repeating: "[", count: 100_000)) }
    }

    /// A value of the maximum depth can be relayed, and a deeper value is not sent.
    @Test func receivedPacketsCanBeForwarded() throws {
        var value: SocketIOValue = 0
        for _ in 0..<511 { value = [value] }
        let relayed = try SocketIOJSONEncoder.encode(packet(event("a", value)))
        guard case .text(let text) = relayed.first else { throw SocketIOError(.malformedPacket, message: "no text") }
        #expect(try decode(String(buffer: text)) == packet(event("a", value)))
        for content in [event("a", [value]), .ack(id: 1, arguments: [[value]]), event("a", [value], .binary([1]))] {
            let error = #expect(throws: SocketIOError.self) { try SocketIOJSONEncoder.encode(packet(content)) }
            #expect(error?.code == .invalidUse)
        }
        #expect(try SocketIOParser.messagePack.encode(packet(event("a", value))).count == 1)
        #expect(throws: SocketIOError.self) { try SocketIOParser.messagePack.encode(packet(event("a", [value]))) }
    }

    /// docs/hazards.md, 25. JavaScript creates a lone surrogate with `"🐦".slice(0, 1)`, and RFC
    /// 8259's grammar allows it.
    @Test func loneSurrogatesAreReplaced() throws {
        #expect(try decode(#"2["a","\ud83d"]"#) == packet(event("a", "\u{FFFD}")))
        #expect(try decode(#"2["\ud83d",{"\ude00":1}]"#) == packet(event("\u{FFFD}", ["\u{FFFD}": 1])))
        #expect(try decode(#"0{"token":"\ud83d"}"#) == packet(.connect(["token": "\u{FFFD}"])))
        #expect(
            try decode(#"51-["a","\ud83d",{"_placeholder":true,"num":0}]"#, [[1]]) == packet(event("a", "\u{FFFD}", .binary([1]))))
        // A relayed payload keeps its bytes.
        var decoder = SocketIOJSONDecoder()
        let wire = #"2["a","\ud83d"]"#
        let undecoded = try #require(try decoder.received(.text(ByteBuffer(string: wire))))
        #expect(try SocketIOParser.json.encode(undecoded) == [.text(ByteBuffer(string: wire))])
    }

    /// docs/hazards.md, 28.
    @Test func authIsBounded() throws {
        let limits = SocketIOLimits(maximumConnectBytes: 20)
        #expect(try decode(#"0{"token":"12345678"}"#, limits: limits) != nil)
        let error = #expect(throws: SocketIOError.self) { try decode(#"0/chat,{"token":"123456789"}"#, limits: limits) }
        #expect(error?.code == .malformedPacket)
        #expect(throws: SocketIOError.self) { try decode("0{\"a\":[" + String(repeating: "[0],", count: 3000) + "0]}") }
    }

    @Test func namespaceIsBoundedAndUTF8() throws {
        #expect(try decode("0/" + String(repeating: "a", count: 4095) + ",")?.namespace.utf8.count == 4096)
        #expect(throws: SocketIOError.self) { try decode("0/" + String(repeating: "a", count: 4096) + ",") }
        var decoder = SocketIOJSONDecoder()
        #expect(throws: SocketIOError.self) { try decoder.received(.text(ByteBuffer(bytes: [0x30, 0x2f, 0xff]))) }
    }

    @Test(arguments: [
        packet(event("connect")), packet(event("a", .double(.nan))), packet(.connect(["a": .binary([1])])), packet(event("a"), "x"),
        packet(event("a"), "/a,b"),
        packet(event("a"), ""), packet(event("a", ack: -1)), packet(.ack(id: -1, arguments: [])),
        // A value of a peer, relayed with binary data, must not close the receivers' connections.
        packet(event("a", ["_placeholder": true, "num": 7], .binary([1]))),
    ])
    func unencodablePacketsAreNotSent(packet: SocketIOPacket) {
        let error = #expect(throws: SocketIOError.self) { try SocketIOJSONEncoder.encode(packet) }
        #expect(error?.code == .invalidUse)
    }

    @Test func placeholderLookalikeWithoutBinaryIsPlainData() throws {
        let lookalike = packet(event("a", ["_placeholder": true, "num": 7]))
        let encoded = try SocketIOJSONEncoder.encode(lookalike)
        #expect(encoded.count == 1)
        var decoder = SocketIOJSONDecoder()
        #expect(try decoder.received(encoded[0]) == lookalike)
    }
}
