import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

/// Half of a surrogate pair, which JavaScript writes for a text that is cut within an emoji, and
/// names that look alike (docs/hazards.md, 25 and 26).
@Suite("Lone surrogates, and names of different bytes") struct SocketIOBadTextTests {
    private let server = SocketIOServer(logger: Logger(label: "test"))

    @Test func aLoneSurrogateIsReadAsTheReplacementCharacter() throws {
        self.server.namespace("/").onConnection { socket in
            socket.on("echo") { (text: String) in text }
            socket.on("token") { () in socket.handshake.auth["token"] ?? nil }
        }
        let client = try PollingClient(self.server)
        try client.connect(#"0{"token":"\ud83d"}"#)
        try client.post(#"21["echo","a\ud83d"]"#, #"22["token"]"#)
        #expect(try client.poll() == ["31[\"a\u{FFFD}\"]", "32[\"\u{FFFD}\"]"])
    }

    /// A relayed payload is not decoded, so a lone surrogate is sent as it was received.
    @Test func forwardedTextKeepsItsBytes() throws {
        self.server.namespace("/").onConnection { socket in
            socket.join("a")
            socket.on("relay") { (event: SocketIOReceivedEvent) in socket.namespace.to("a").emit("relayed", payload: event.payload) }
        }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"2["relay", "\ud83d"]"#)
        #expect(try client.poll() == [#"2["relayed","\ud83d"]"#])
    }

    /// Rooms, events and namespaces that are canonically equivalent but have different bytes.
    @Test(arguments: [("\u{e9}", "e\u{301}"), ("K", "\u{212A}"), (";", "\u{37E}")])
    func namesOfOtherBytesAreOtherNames(one: String, other: String) throws {
        let heard = NIOLockedValueBox<[String]>([])
        for name in [one, other] {
            self.server.namespace("/\(name)").onConnection { socket in
                socket.join(name)
                socket.on(name) { () in heard.withLockedValue { $0.append(name) } }
                socket.on("room") { (room: String) in socket.namespace.to(room).emit("to", room) }
            }
        }
        #expect(self.server.namespace("/\(one)") !== self.server.namespace("/\(other)"))
        let (first, second) = (try PollingClient(self.server), try PollingClient(self.server))
        try first.connect("0/\(one),")
        try second.connect("0/\(other),")
        try first.post("2/\(one),[\"\(other)\"]", "2/\(one),[\"room\",\"\(other)\"]", "2/\(one),[\"room\",\"\(one)\"]")
        #expect(heard.withLockedValue { $0 } == [])
        let packets = try first.poll()
        #expect(packets.count == 1 && Array(packets[0].utf8) == Array("2/\(one),[\"to\",\"\(one)\"]".utf8))
        try second.post("2/\(other),[\"\(other)\"]")
        #expect(heard.withLockedValue { $0.map { Array($0.utf8) } } == [Array(other.utf8)])
        #expect(try second.poll() == [])
        // A packet for the equivalent name is for a namespace that the client has not joined.
        #expect(try first.post("2/\(other),[\"x\"]") == 400)
    }
}

/// The data that a client can make the server keep before it has joined a namespace, and while it
/// is connected (docs/hazards.md, 27 and 28).
@Suite("Incomplete packets and large auth") struct SocketIOUnjoinedTests {
    private let server = SocketIOServer(logger: Logger(label: "test"))

    init() { _ = self.server.namespace("/chat") }

    @Test(arguments: [
        #"451-/chat,["x",{"_placeholder":true,"num":0}]"#, #"451-["x",{"_placeholder":true,"num":0}]"#,
        #"461-/chat,1[{"_placeholder":true,"num":0}]"#,
    ])
    func aBinaryPacketIsRefusedAtItsText(packet: String) throws {
        let client = try PollingClient(self.server)
        #expect(try client.post(String(packet.dropFirst())) == 400)
        #expect(self.server.clientCount == 0)
    }

    @Test func aBinaryPacketForANamespaceThatIsJoinedComes() throws {
        self.server.namespace("/chat").onConnection { socket in socket.on("x") { (bytes: SocketIOValue) in bytes.binaryValue?.count } }
        let client = try PollingClient(self.server)
        try client.connect("0/chat,")
        #expect(try client.post(#"51-/chat,1["x",{"_placeholder":true,"num":0}]"#, "bAQID") == 200)
        #expect(try client.poll() == ["3/chat,1[3]"])
    }

    @Test(arguments: [(8_180, true), (8_190, false)]) func authIsBounded(length: Int, isTaken: Bool) throws {
        let client = try PollingClient(self.server)
        let status = try client.post("0/chat,{\"a\":\"\(String(repeating: "x", count: length))\"}")
        #expect(status == (isTaken ? 200 : 400))
        #expect(self.server.clientCount == (isTaken ? 1 : 0))
    }

    @Test func theBoundOfAuthIsASetting() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.maximumAuthBytes = 9
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        _ = server.namespace("/")
        #expect(try PollingClient(server).post(#"0{"a":"12"}"#) == 400)
        #expect(try PollingClient(server).post(#"0{"a":"1"}"#) == 200)
    }

    @Test func aSocketReportsItsTransport() throws {
        self.server.namespace("/").onConnection { socket in socket.on("transport") { () in socket.transportName } }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"21["transport"]"#)
        #expect(try client.poll() == [#"31["polling"]"#])
    }
}
