import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOProtocol
import NIOCore
import Testing

private func message(_ value: SocketIOValue) throws -> EngineIOMessage {
    var buffer = ByteBuffer()
    try MessagePack.write(value, into: &buffer)
    return .binary(buffer)
}

private func decode(_ value: SocketIOValue, version: SocketIOVersion = .v5, limits: SocketIOLimits = .init()) throws -> SocketIOPacket? {
    var decoder = SocketIOParser.messagePack.makeDecoder(version: version, limits: limits)
    return try decoder.received(try message(value))
}

/// Returns one byte per scalar.
private func latin(_ text: String) -> [UInt8] { text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

private func packet(_ content: SocketIOPacket.Content, _ namespace: String = "/") -> SocketIOPacket {
    SocketIOPacket(namespace: namespace, content: content)
}

private let table: [(packet: SocketIOPacket, map: SocketIOValue)] = [
    (packet(.connect(nil)), ["type": 0, "nsp": "/"]),
    (packet(.connect(["token": "a"]), "/adm"), ["type": 0, "nsp": "/adm", "data": ["token": "a"]]),
    (packet(.disconnect), ["type": 1, "nsp": "/"]),
    (
        packet(.event(name: "a", arguments: [1, .binary([2])], ackID: nil)),
        ["type": 2, "nsp": "/", "data": ["a", 1, .binary([2])]]
    ),
    (packet(.event(name: "a", arguments: [], ackID: 0), "/b,c"), ["type": 2, "nsp": "/b,c", "id": 0, "data": ["a"]]),
    (packet(.ack(id: 7, arguments: [["x": .binary([])]])), ["type": 3, "nsp": "/", "id": 7, "data": [["x": .binary([])]]]),
    (packet(.ack(id: 70_000, arguments: [])), ["type": 3, "nsp": "/", "id": 70_000, "data": []]),
    (packet(.connectError(["message": "no"])), ["type": 4, "nsp": "/", "data": ["message": "no"]]),
]

private let foreign: [(map: SocketIOValue, packet: SocketIOPacket)] = [
    (["type": 2, "data": ["a"], "options": ["compress": true], "nsp": "/"], packet(.event(name: "a", arguments: [], ackID: nil))),
    (["type": 0, "data": nil, "nsp": "/"], packet(.connect(nil))),
    (["type": 1, "data": nil, "nsp": "/", "id": nil], packet(.disconnect)),
    (["type": 2, "data": [1, 2], "nsp": "/"], packet(.event(name: "1", arguments: [2], ackID: nil))),
    (["type": 4, "data": "no", "nsp": "/"], packet(.connectError("no"))),
    // Without JSON a placeholder is plain data.
    (
        ["type": 2, "data": ["a", ["_placeholder": true, "num": 5]], "nsp": "/"],
        packet(.event(name: "a", arguments: [["_placeholder": true, "num": 5]], ackID: nil))
    ),
]

private let malformed: [SocketIOValue] = [
    [], 1, "a", [:], ["type": 2], ["type": 2, "data": ["a"]], ["nsp": "/", "data": ["a"]],
    ["type": -1, "nsp": "/"], ["type": 5, "nsp": "/", "data": ["a"]], ["type": 7, "nsp": "/"],
    ["type": "2", "nsp": "/", "data": ["a"]],
    ["type": 2.0, "nsp": "/", "data": ["a"]], ["type": .integer(.max), "nsp": "/", "data": ["a"]],
    ["type": 2, "nsp": 1, "data": ["a"]], ["type": 2, "nsp": "", "data": ["a"]], ["type": 2, "nsp": "a", "data": ["a"]],
    ["type": 0, "nsp": "/", "data": []], ["type": 0, "nsp": "/", "data": "x"], ["type": 0, "nsp": "/", "id": 1],
    ["type": 1, "nsp": "/", "data": [:]],
    ["type": 2, "nsp": "/"], ["type": 2, "nsp": "/", "data": []], ["type": 2, "nsp": "/", "data": nil],
    ["type": 2, "nsp": "/", "data": "a"],
    ["type": 2, "nsp": "/", "data": [nil]], ["type": 2, "nsp": "/", "data": [.binary([1])]],
    ["type": 2, "nsp": "/", "data": ["connect"]],
    ["type": 2, "nsp": "/", "data": ["disconnecting"]], ["type": 2, "nsp": "/", "data": ["a"], "id": -1],
    ["type": 2, "nsp": "/", "data": ["a"], "id": "1"], ["type": 2, "nsp": "/", "data": ["a"], "id": 1.0],
    ["type": 3, "nsp": "/", "data": []], ["type": 3, "nsp": "/", "id": 1], ["type": 3, "nsp": "/", "id": 1, "data": [:]],
    ["type": 4, "nsp": "/"], ["type": 4, "nsp": "/", "data": nil], ["type": 4, "nsp": "/", "data": []],
]

@Suite("Packets as MessagePack") struct SocketIOMessagePackParserTests {
    /// The format of `socket.io-msgpack-parser` 3.
    @Test(arguments: table)
    func aPacketIsOneMap(packet: SocketIOPacket, map: SocketIOValue) throws {
        let messages = try SocketIOParser.messagePack.encode(packet)
        #expect(messages.count == 1)
        guard case .binary(let bytes)? = messages.first else {
            Issue.record("not a binary message")
            return
        }
        #expect(try MessagePack.read(bytes) == map)
        #expect(try decode(map) == packet)
    }

    @Test func bytesMatchNodesParser() throws {
        let messages = try SocketIOParser.messagePack.encode(packet(.event(name: "hi", arguments: [.binary([9])], ackID: 1)))
        let expected = "\u{84}\u{a4}type\u{2}\u{a3}nsp\u{a1}/\u{a2}id\u{1}\u{a4}data\u{92}\u{a2}hi\u{c4}\u{1}\u{9}"
        #expect(messages == [.binary(ByteBuffer(bytes: latin(expected)))])
    }

    /// Packets of other implementations: JavaScript's `options`, python-socketio's null for an
    /// absent member, a number as a name.
    @Test(arguments: foreign)
    func othersAreUnderstood(map: SocketIOValue, packet: SocketIOPacket) throws {
        #expect(try decode(map) == packet)
    }

    @Test func undefinedIsNothing() throws {
        // {type: 0, data: undefined, nsp: "/", id: undefined}
        let bytes = latin("\u{84}\u{a4}type\u{0}\u{a4}data\u{d4}\u{0}\u{0}\u{a3}nsp\u{a1}/\u{a2}id\u{d4}\u{0}\u{0}")
        var decoder = SocketIOParser.messagePack.makeDecoder()
        #expect(try decoder.received(.binary(ByteBuffer(bytes: bytes))) == packet(.connect(nil)))
    }

    /// Each packet is a parse error.
    @Test(arguments: malformed)
    func malformedPacketsAreRefused(map: SocketIOValue) {
        #expect(throws: SocketIOError.self) { try decode(map) }
    }

    @Test func errorsAreFinal() throws {
        var decoder = SocketIOParser.messagePack.makeDecoder()
        let first = try #require(throws: SocketIOError.self) { try decoder.received(.text(ByteBuffer(string: #"2["a"]"#))) }
        #expect(first.code == .malformedPacket)
        #expect(throws: first) { try decoder.received(try message(["type": 1, "nsp": "/"])) }
    }

    @Test func boundsMatchJSON() throws {
        let limits = SocketIOLimits(maximumDepth: 3, maximumNamespaceBytes: 4)
        #expect(try decode(["type": 2, "nsp": "/abc", "data": ["a", [[1]]]], limits: limits) != nil)
        #expect(throws: SocketIOError.self) { try decode(["type": 2, "nsp": "/abc", "data": ["a", [[[]]]]], limits: limits) }
        #expect(throws: SocketIOError.self) { try decode(["type": 2, "nsp": "/abcd", "data": ["a"]], limits: limits) }
    }

    /// JavaScript clients of version 4 send the binary event type.
    @Test func versionFourNamesBinaryEvents() throws {
        let content = SocketIOPacket.Content.event(name: "a", arguments: [.binary([1])], ackID: nil)
        #expect(try decode(["type": 5, "nsp": "/", "data": ["a", .binary([1])]], version: .v4) == packet(content))
        #expect(try decode(["type": 6, "nsp": "/", "id": 1, "data": []], version: .v4) == packet(.ack(id: 1, arguments: [])))
    }

    @Test(arguments: [
        packet(.event(name: "connect", arguments: [], ackID: nil)), packet(.event(name: "a", arguments: [.double(.nan)], ackID: nil)),
        packet(.disconnect, "x"), packet(.disconnect, ""), packet(.event(name: "a", arguments: [], ackID: -1)),
        packet(.ack(id: -1, arguments: [])),
    ])
    func unencodablePacketsAreNotSent(packet: SocketIOPacket) {
        let error = #expect(throws: SocketIOError.self) { try SocketIOParser.messagePack.encode(packet) }
        #expect(error?.code == .invalidUse)
    }
}
