import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

/// CONNECT and namespaces. See `SocketIO2ClientTests` for 2.x clients, `SocketIORecoveryTests` for
/// recovery and `SocketIOAdmissionTests` for middleware.
@Suite("Socket.IO rows: CONNECT and namespaces") struct SocketIOConnectRowsTests {
    private let server = SocketIOServer(logger: Logger(label: "test"))

    init() {
        for name in ["/", "/adm"] {
            self.server.namespace(name).onConnection { socket in
                socket.on("auth") { () in socket.handshake.auth }
                socket.on("1.5") { (_: SocketIOReceivedEvent) in socket.emit("got", "1.5") }
                socket.on("7") { (text: String) in text }
            }
        }
    }

    @Test(arguments: [
        ("0", "0", "{}"), ("0{}", "0", "{}"), (#"0{"a":1}"#, "0", #"{"a":1}"#), ("0/adm", "0/adm,", "{}"), ("0/adm,", "0/adm,", "{}"),
        (#"0/adm,{"a":[]}"#, "0/adm,", #"{"a":[]}"#), ("0/,", "0", "{}"),
    ])
    func connectIsAnsweredWithASid(packet: String, answer: String, auth: String) throws {
        let client = try PollingClient(self.server)
        try client.post(packet)
        #expect(try client.poll() == ["\(answer){\"sid\":\"ID\"}"])
        let namespace = answer == "0" ? "" : "/adm,"
        try client.post("2\(namespace)1[\"auth\"]")
        #expect(try client.poll() == ["3\(namespace)1[\(auth)]"])
    }

    @Test(arguments: ["/nowhere", "/adm?tok=1", "/ADM", "/adm/"])
    func anUnknownNamespaceAndOneWithAQueryAreInvalid(name: String) throws {
        let client = try PollingClient(self.server)
        try client.post("0\(name),")
        #expect(try client.poll() == ["4\(name),{\"message\":\"Invalid namespace\"}"])
        // The client may join another namespace.
        try client.connect("0/adm,")
    }

    @Test func aClientWithoutANamespaceIsClosed() throws {
        let client = try PollingClient(self.server)
        try client.post("0/nowhere,")
        client.pass(.seconds(44))
        #expect(self.server.clientCount == 1)
        client.pass(.seconds(1))
        #expect(self.server.clientCount == 0)
    }

    @Test(arguments: [
        ("0", "a duplicate CONNECT"), (#"2/adm,["a"]"#, "an event on a namespace not joined"), ("0[]", "an auth that is an array"),
        ("0null", "an auth that is null"), ("1{}", "a DISCONNECT with a payload"), (#"2["disconnect"]"#, "a reserved event name"),
        ("51-[\"a\",{\"_placeholder\":true,\"num\":1}]\u{1e}bAQID", "a placeholder out of range"),
    ])
    func breachesCloseTheConnection(packet: String, what: String) throws {
        let reason = NIOLockedValueBox<SocketIOServerDisconnectReason?>(nil)
        self.server.namespace("/").onConnection { socket in
            socket.onDisconnect { value in reason.withLockedValue { $0 = value } }
        }
        let (bad, good) = (try PollingClient(self.server), try PollingClient(self.server))
        try bad.connect()
        try good.connect("0/adm,")
        try bad.post(packet)
        #expect(reason.withLockedValue { $0 } == .parseError, "\(what)")
        #expect(try bad.poll() == ["HTTP 400"], "\(what)")
        try good.post(#"2/adm,1["auth"]"#)
        #expect(try good.poll() == ["3/adm,1[{}]"])
    }

    @Test func anEventBeforeConnectIsABreach() throws {
        let client = try PollingClient(self.server)
        #expect(try client.post(#"2["a"]"#) == 400)
        #expect(self.server.clientCount == 0)
    }

    @Test func ackIDsArePerNamespaceBothWays() throws {
        let client = try PollingClient(self.server)
        try client.connect()
        try client.connect("0/adm,")
        try client.post(#"21["auth"]"#, #"2/adm,1["auth"]"#)
        #expect(try client.poll() == ["31[{}]", "3/adm,1[{}]"])
        let answers = NIOLockedValueBox<[String]>([])
        for name in ["/", "/adm"] {
            let socket = try #require(self.server.namespace(name).sockets.first)
            socket.emitWithAck("q", arguments: []) { result in
                answers.withLockedValue { $0.append("\(name) \((try? result.get()) ?? [])") }
            }
        }
        #expect(try client.poll() == [#"20["q"]"#, #"2/adm,0["q"]"#])
        try client.post("3/adm,0[2]", "30[1]")
        #expect(answers.withLockedValue { $0 } == ["/adm [2]", "/ [1]"])
    }

    @Test func numericEventNamesAreLegal() throws {
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"21[7,"x"]"#, "2[1.5]", #"22["7","y"]"#)
        #expect(try client.poll() == [#"31["x"]"#, #"2["got","1.5"]"#, #"32["y"]"#])
    }

    /// Ids consist of 15 random bytes in base64url, as in socket.io for Node.
    @Test func idsAreTwentyCharactersAndNotTheEngines() throws {
        let client = try PollingClient(self.server)
        try client.connect()
        try client.connect("0/adm,")
        let ids = ["/", "/adm"].flatMap { self.server.namespace($0).sockets.map(\.id) }
        #expect(Set(ids).count == 2)
        for id in ids { #expect(id.wholeMatch(of: /[A-Za-z0-9_-]{20}/) != nil) }
        #expect(!ids.contains(client.sid))
    }
}

/// The reasons for disconnects, with the texts of socket.io for Node.
@Suite("Socket.IO rows: disconnect reasons") struct SocketIODisconnectReasonRowsTests {
    private let reasons = NIOLockedValueBox<[String]>([])

    private func client(_ change: (inout SocketIOServerConfiguration) -> Void = { _ in }) throws -> (SocketIOServer, PollingClient) {
        var configuration = SocketIOServerConfiguration()
        change(&configuration)
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        server.namespace("/").onConnection { [reasons] socket in
            socket.onDisconnect { reason in reasons.withLockedValue { $0.append(reason.description) } }
            socket.on("leave") { () in socket.disconnect() }
            socket.on("close") { () in socket.disconnect(close: true) }
            socket.on("flood") { () in for _ in 0..<100 { socket.emit("much", String(repeating: "x", count: 1000)) } }
        }
        let client = try PollingClient(server)
        try client.connect()
        return (server, client)
    }

    private func expect(_ reason: String) {
        #expect(self.reasons.withLockedValue { $0 } == [reason])
    }

    @Test func transportClose() throws {
        let (server, client) = try self.client()
        try client.lose()
        self.expect("transport close")
        withExtendedLifetime(server) {}
    }

    @Test func transportError_aQueueOverItsBound() throws {
        let (server, client) = try self.client { $0.engine.maximumQueuedBytes = 50_000 }
        try client.post(#"2["flood"]"#)
        self.expect("transport error")
        withExtendedLifetime(server) {}
    }

    @Test func pingTimeout() throws {
        let (server, client) = try self.client()
        client.pass(.seconds(45))
        self.expect("ping timeout")
        withExtendedLifetime(server) {}
    }

    @Test(arguments: ["2{}", "9", "5"]) func parseError(packet: String) throws {
        let (server, client) = try self.client()
        try client.post(packet)
        self.expect("parse error")
        withExtendedLifetime(server) {}
    }

    @Test func forcedServerClose() throws {
        let (server, client) = try self.client()
        try client.post(#"2["close"]"#)
        self.expect("forced server close")
        withExtendedLifetime(server) {}
    }

    @Test func clientNamespaceDisconnect() throws {
        let (server, client) = try self.client()
        try client.post("1")
        self.expect("client namespace disconnect")
        #expect(server.clientCount == 1)
    }

    @Test func serverNamespaceDisconnect() throws {
        let (server, client) = try self.client()
        try client.post(#"2["leave"]"#)
        self.expect("server namespace disconnect")
        #expect(try client.poll() == ["1"])
        #expect(server.clientCount == 1)
    }
}

/// Intended differences from socket.io for Node. See also `SocketIORecoveryTests`,
/// `SocketIOSocketTests` and `SocketIODrainTests`, and `EngineIOBetterThanNodeTests` for Engine.IO.
@Suite("Socket.IO rows: better than Node") struct SocketIOBetterThanNodeTests {
    @Test func noAttachmentsLeavesTheDecoderReady() throws {
        let server = SocketIOServer(logger: Logger(label: "test"))
        server.namespace("/").onConnection { socket in socket.on("a") { () in "ok" } }
        let client = try PollingClient(server)
        try client.connect()
        #expect(try client.post(#"50-1["a"]"#, #"22["a"]"#) == 200)
        #expect(try client.poll() == [#"31["ok"]"#, #"32["ok"]"#])
    }

    /// A bounded queue drops volatile events first and then disconnects. Other sockets are
    /// unaffected.
    @Test func onlyTheSlowReaderLosesVolatileEventsAndThenItsConnection() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.maximumQueuedBytes = 50_000
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        let root = server.namespace("/")
        let slowReason = NIOLockedValueBox<SocketIOServerDisconnectReason?>(nil)
        let (slow, good) = (try PollingClient(server), try PollingClient(server))
        try slow.connect()
        try #require(root.sockets.first).onDisconnect { reason in slowReason.withLockedValue { $0 = reason } }
        try good.connect()
        let text = String(repeating: "x", count: 1000)
        // No client polls: volatile events are dropped and use no memory.
        for _ in 0..<1000 { root.volatile.emit("volatile", text) }
        #expect(server.clientCount == 2)
        // Other events are queued up to the limit. One client polls its events.
        var received: [String] = []
        for number in 0..<100 {
            root.emit("n", number, text)
            received += try good.poll()
        }
        #expect(received == (0..<100).map { #"2["n",\#($0),"\#(text)"]"# })
        #expect(server.clientCount == 1)
        #expect(slowReason.withLockedValue { $0 } == .transportError)
        #expect(slowReason.withLockedValue { $0?.detail } == "more than 50000 bytes are queued for the client (`maximumQueuedBytes`)")
        #expect(try slow.poll() == ["HTTP 400"])
    }
}
