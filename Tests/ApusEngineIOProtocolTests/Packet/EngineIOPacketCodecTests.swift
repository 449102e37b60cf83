import ApusEngineIOProtocol
import NIOCore
import Testing

private let codec = EngineIOPacketCodec(version: .v4)
private func text(_ string: String) -> ByteBuffer { ByteBuffer(string: string) }

/// The table of Engine.IO protocol v4, "Packet encoding".
private let table: [(wire: String, packet: EngineIOPacket)] = [
    (
        #"0{"sid":"lv_VI97HAXpY6yYWAAAC","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#,
        .open(
            EngineIOHandshake(
                sid: "lv_VI97HAXpY6yYWAAAC", upgrades: ["websocket"], pingInterval: .seconds(25), pingTimeout: .seconds(20),
                maxPayload: 1_000_000))
    ),
    ("1", .close),
    ("2", .ping),
    ("2probe", .probePing),
    ("3", .pong),
    ("3probe", .probePong),
    ("4", .message(.text(text("")))),
    ("4hello", .message(.text(text("hello")))),
    ("4€😀", .message(.text(text("€😀")))),
    ("42[\"a\"]", .message(.text(text("2[\"a\"]")))),
    ("b", .message(.binary(ByteBuffer()))),
    ("bAQIDBA==", .message(.binary(ByteBuffer(bytes: [1, 2, 3, 4])))),
    ("bAQL/", .message(.binary(ByteBuffer(bytes: [1, 2, 255])))),
    ("5", .upgrade),
    ("6", .noop),
]

@Suite struct EngineIOPacketCodecTests {
    @Test(arguments: table)
    func textFormMatchesTheSpecification(wire: String, packet: EngineIOPacket) throws {
        var buffer = ByteBuffer()
        codec.encodeText(packet, into: &buffer)
        #expect(String(buffer: buffer) == wire)
        #expect(try codec.decode(.text(text(wire))) == packet)
    }

    @Test func binaryStandsRawInAFrame() throws {
        let bytes = ByteBuffer(bytes: [4, 0, 255])
        #expect(codec.webSocketFrame(for: .message(.binary(bytes))) == .binary(bytes))
        #expect(try codec.decode(.binary(bytes)) == .message(.binary(bytes)))
        #expect(codec.webSocketFrame(for: .message(.text(text("hi")))) == .text(text("4hi")))
    }

    @Test(arguments: [
        "", "7", "a", "é", " 4x", "1x", "5x", "6x", "b=", "bA", "bAQ", "bAQJ=", "bA===", "bAQ==AQ==", "bAQ-_", "b AQL/", "0", "0[]", "0{}",
    ])
    func invalidPacketsAreRefused(wire: String) {
        let error = #expect(throws: EngineIOError.self) { try codec.decode(.text(text(wire))) }
        #expect(error?.code == .malformedPacket)
    }

    @Test(arguments: [
        (#""pingInterval":0,"pingTimeout":20000"#, Duration.zero, Duration.seconds(20)),
        (#""pingInterval":25000.0,"pingTimeout":2e4"#, .seconds(25), .seconds(20)),
        (#""pingInterval":1e300,"pingTimeout":9223372036854775807"#, .milliseconds(2_147_483_647), .milliseconds(2_147_483_647)),
    ])
    func openPacketOfOthersIsRead(times: String, interval: Duration, timeout: Duration) throws {
        let packet = try codec.decode(.text(text("0{\"sid\":\"x\",\(times),\"unknown\":[{}]}")))
        let handshake = EngineIOHandshake(sid: "x", upgrades: [], pingInterval: interval, pingTimeout: timeout, maxPayload: 1_000_000)
        #expect(packet == .open(handshake))
    }

    @Test(arguments: [
        #"{"pingInterval":1,"pingTimeout":1}"#, #"{"sid":"","pingInterval":1,"pingTimeout":1}"#,
        #"{"sid":7,"pingInterval":1,"pingTimeout":1}"#,
        #"{"sid":"x","pingTimeout":1}"#, #"{"sid":"x","pingInterval":-1,"pingTimeout":1}"#,
        #"{"sid":"x","pingInterval":"1","pingTimeout":1}"#,
        #"{"sid":"x","pingInterval":1,"pingTimeout":1,"maxPayload":0}"#, #"{"sid":"x","pingInterval":1,"pingTimeout":1,"maxPayload":1.5}"#,
        "{\"sid\":\"x\"", "null", "<html>",
    ])
    func wrongOpenPacketIsRefused(json: String) {
        let error = #expect(throws: EngineIOError.self) { try codec.decode(.text(text("0" + json))) }
        #expect(error?.code == .malformedPacket)
    }

    @Test func onlyVersion4IsAccepted() {
        #expect(EngineIOVersion(query: "4", allowsV3: false) == .v4)
        for query in ["", "3", "5", "04", "4 ", "٤"] { #expect(EngineIOVersion(query: query, allowsV3: false) == nil) }
    }
}
