import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

@Suite struct SocketIOServerTests {
    private let server = SocketIOServer(logger: Logger(label: "test"))

    private func onConnection(_ handler: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.server.namespace("/").onConnection(handler)
    }

    @Test func connectIsAnsweredWithAnId() throws {
        self.onConnection { _ in }
        let client = try PollingClient(self.server)
        #expect(try client.post("0") == 200)
        #expect(try client.poll() == [#"0{"sid":"ID"}"#])
        #expect(self.server.namespace("/").sockets.count == 1)
    }

    @Test func handshakeIsHandedOver() throws {
        let seen = NIOLockedValueBox<SocketIOHandshake?>(nil)
        self.onConnection { socket in seen.withLockedValue { $0 = socket.handshake } }
        try PollingClient(self.server).connect(#"0{"token":"t"}"#)
        let handshake = try #require(seen.withLockedValue { $0 })
        #expect(handshake.auth == ["token": "t"])
        #expect(handshake.query["a"] == "b")
        #expect(handshake.address == "127.0.0.1")
    }

    @Test func unknownNamespaceIsRefusedAndTheRestContinues() throws {
        self.onConnection { _ in }
        let client = try PollingClient(self.server)
        try client.post("0/nowhere,", "0")
        #expect(try client.poll() == [#"4/nowhere,{"message":"Invalid namespace"}"#, #"0{"sid":"ID"}"#])
    }

    /// Large payloads are not copied into the packet if the transport permits.
    @Test(arguments: [10, 20_000]) func forwardedEventsAreUnchanged(length: Int) throws {
        self.onConnection { socket in
            socket.on("pass") { (event: SocketIOReceivedEvent) in socket.emit("pass", payload: event.payload) }
            socket.on("pass-ack") { (event: SocketIOReceivedEvent) in event.acknowledge(payload: event.payload) }
        }
        let client = try PollingClient(self.server)
        try client.connect()
        let payload = #""\u0041","\#(String(repeating: "x", count: length))", 1.50"#
        try client.post(#"2["pass",\#(payload)]"#, #"27["pass-ack",\#(payload)]"#)
        #expect(try client.poll() == [#"2["pass",\#(payload)]"#, "37[\(payload)]"])
    }

    @Test func returnValueIsTheAck() throws {
        self.onConnection { socket in
            socket.on("add") { (a: Int, b: Int) in a + b }
            socket.on("nothing") { () in }
        }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"21["add",1,2]"#, #"22["nothing"]"#, #"2["add",1,2]"#)
        #expect(try client.poll() == ["31[3]", "32[]"])
    }

    @Test func argumentsThatDoNotFitAreNotDelivered() throws {
        self.onConnection { socket in socket.on("add") { (a: Int, b: Int) in a + b } }
        let client = try PollingClient(self.server)
        try client.connect()
        #expect(try client.post(#"21["add","x",2]"#, #"22["add",1]"#, #"23["add",1,1]"#) == 200)
        #expect(try client.poll() == ["33[2]"])
    }

    @Test func rawHandlerAnswersOnce() throws {
        self.onConnection { socket in
            socket.on("raw") { (event: SocketIOReceivedEvent) in
                event.acknowledge(.string("first"), .integer(Int64(event.arguments.count)))
                event.acknowledge("second")
            }
        }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"27["raw",null,[1]]"#)
        #expect(try client.poll() == [#"37["first",2]"#])
    }

    @Test func binaryGoesBothWaysAtAnyDepth() throws {
        self.onConnection { socket in
            socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", arguments: event.arguments) }
        }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"51-["echo",{"a":[{"_placeholder":true,"num":0}]}]"#, "bAQID")
        #expect(try client.poll() == [#"51-["echo",{"a":[{"_placeholder":true,"num":0}]}]"#, "bAQID"])
    }

    @Test func broadcastReachesTheOthersOnly() throws {
        self.onConnection { socket in
            socket.on("say") { (text: String) in socket.broadcast.emit("say", text) }
            socket.on("all") { (text: String) in socket.namespace.emit("all", text) }
        }
        let (a, b) = (try PollingClient(self.server), try PollingClient(self.server))
        try a.connect()
        try b.connect()
        try a.post(#"2["say","hi"]"#, #"2["all","you"]"#)
        #expect(try a.poll() == [#"2["all","you"]"#])
        #expect(try b.poll() == [#"2["say","hi"]"#, #"2["all","you"]"#])
    }

    @Test func roomsNarrowAnEmit() throws {
        self.onConnection { socket in
            socket.on("join") { (room: String) in socket.join(room) }
            socket.on("to") { (room: String) in socket.to(room).emit("to", room) }
        }
        let (a, b, c) = (try PollingClient(self.server), try PollingClient(self.server), try PollingClient(self.server))
        for client in [a, b, c] { try client.connect() }
        try a.post(#"2["join","red"]"#)
        try b.post(#"2["join","red"]"#)
        try a.post(#"2["to","red"]"#)
        self.server.namespace("/").to("red").except("blue").emit("red", 1)
        #expect(try a.poll() == [#"2["red",1]"#])
        #expect(try b.poll() == [#"2["to","red"]"#, #"2["red",1]"#])
        #expect(try c.poll() == [])
    }

    @Test func twoNamespacesShareAConnection() throws {
        self.onConnection { socket in socket.on("who") { () in "root" } }
        self.server.namespace("/adm").onConnection { socket in socket.on("who") { () in "adm" } }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.connect("0/adm,")
        try client.post(#"21["who"]"#, #"2/adm,1["who"]"#)
        #expect(try client.poll() == [#"31["root"]"#, #"3/adm,1["adm"]"#])
    }

    @Test func leavingANamespaceLeavesTheOther() throws {
        let reason = NIOLockedValueBox<SocketIOServerDisconnectReason?>(nil)
        self.onConnection { socket in
            socket.join("red")
            socket.onDisconnect { value in reason.withLockedValue { $0 = value } }
        }
        self.server.namespace("/adm").onConnection { socket in socket.on("who") { () in "adm" } }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.connect("0/adm,")
        try client.post("1", #"2/adm,1["who"]"#)
        #expect(reason.withLockedValue { $0 } == .clientNamespaceDisconnect)
        #expect(self.server.namespace("/").sockets.isEmpty)
        #expect(self.server.namespace("/").sockets(in: "red").isEmpty)
        #expect(try client.poll() == [#"3/adm,1["adm"]"#])
    }

    @Test func serverDisconnectNotifiesTheClient() throws {
        self.onConnection { socket in socket.on("bye") { () in socket.disconnect() } }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"2["bye"]"#)
        #expect(try client.poll() == ["1"])
    }

    @Test func aClosedConnectionIsReportedInEveryNamespaceAfterEarlierEvents() throws {
        self.onConnection { socket in
            socket.on("bye") { () in
                socket.emit("last", "words")
                socket.disconnect(close: true)
            }
        }
        self.server.namespace("/adm").onConnection { _ in }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.connect("0/adm,")
        try client.post(#"2["bye"]"#)
        let packets = try client.poll()
        #expect(packets.first == #"2["last","words"]"#)
        #expect(packets.dropFirst().sorted() == ["1", "1/adm,"])
        // The Engine.IO close packet.
        #expect(try client.poll() == ["1"])
        #expect(try client.poll() == ["HTTP 400"])
        #expect(self.server.clientCount == 0)
    }

    @Test func oneCheckANamespaceHoweverOftenItIsLeft() throws {
        self.server.namespace("/slow").use { _ in try await Task.sleep(for: .seconds(3600)) }
        let client = try PollingClient(self.server)
        #expect(try client.post("0/slow,", "1/slow,") == 200)
        // The first check is still running.
        #expect(try client.post("0/slow,") == 400)
        #expect(self.server.clientCount == 0)
    }

    @Test func aClosedSessionWithoutAPollIsRemoved() throws {
        self.onConnection { socket in socket.on("bye") { () in socket.disconnect(close: true) } }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post(#"2["bye"]"#)
        #expect(self.server.namespace("/").sockets.isEmpty)
        #expect(self.server.clientCount == 0)
        client.pass(.seconds(21))
        #expect(try client.poll() == ["HTTP 400"])
    }

    @Test func clientWithoutANamespaceIsClosed() throws {
        let client = try PollingClient(self.server)
        client.pass(.seconds(44))
        #expect(self.server.clientCount == 1)
        client.pass(.seconds(1))
        #expect(self.server.clientCount == 0)
    }

    @Test(arguments: [
        "0", "0[]", "0null", "2", "2[]", "2{}", "2123", "2😀", "2[{\"toString\":\"foo\"}]", "51-", "5", "9", "21\"\"", "1{}",
        "2[\"connect\"]",
        "2[\"disconnect\"]", "2/nsp", "2/nowhere,[\"a\"]", "4{\"message\":\"x\"}", "2[\"a\"",
        "51-[\"a\",{\"_placeholder\":true,\"num\":5}]\u{1e}bAQID",
        "51-[\"a\",{\"_placeholder\":true,\"num\":-1}]\u{1e}bAQID", "51-[\"a\",{\"_placeholder\":true,\"num\":\"x\"}]\u{1e}bAQID",
        "511-[\"a\"]", "51-[\"a\",{\"_placeholder\":true,\"num\":0}]\u{1e}4[\"b\"]",
    ])
    func badPacketClosesItsSenderOnly(packet: String) throws {
        self.onConnection { socket in socket.on("ping") { () in "pong" } }
        let (bad, good) = (try PollingClient(self.server), try PollingClient(self.server))
        try bad.connect()
        try good.connect()
        try bad.post(packet)
        #expect(self.server.clientCount == 1, "\(packet) was taken")
        #expect(try bad.poll() == ["HTTP 400"])
        try good.post(#"21["ping"]"#)
        #expect(try good.poll() == [#"31["pong"]"#])
    }

    @Test func deepJSONIsRefused() throws {
        self.onConnection { _ in }
        let client = try PollingClient(self.server)
        try client.connect()
        try client.post("2[\"a\"," + String(repeating: "[", count: 100_000))
        #expect(self.server.clientCount == 0)
    }

    @Test func unannouncedAttachmentsAreRefused() throws {
        self.onConnection { socket in socket.on("a") { () in "ok" } }
        let client = try PollingClient(self.server)
        try client.connect()
        // "50-" is legal, and the decoder is ready for the next packet. Node's parser waits
        // forever.
        try client.post(#"50-1["a"]"#, #"22["a"]"#)
        #expect(try client.poll() == [#"31["ok"]"#, #"32["ok"]"#])
        try client.post("bAQID")
        #expect(self.server.clientCount == 0)
    }

    @Test func namespacesOfOneClientAreBounded() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.maximumNamespacesPerClient = 2
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        for name in ["/a", "/b", "/c"] { _ = server.namespace(name) }
        let client = try PollingClient(server)
        try client.post("0/a,", "0/b,", "0/c,")
        #expect(try client.poll().last == #"4/c,{"message":"Too many namespaces"}"#)
        try client.post("1/a,")
        try client.connect("0/c,")
    }

    /// The client cannot know yet that the server has disconnected it.
    @Test func packetsAfterTheServersDisconnectAreDropped() throws {
        let server = SocketIOServer(configuration: .init(), logger: Logger(label: "test"))
        _ = server.namespace("/")
        server.namespace("/a").onConnection { socket in
            socket.on("leave") { () in socket.disconnect() }
            socket.on("echo") { (text: String) in socket.emit("echo", text) }
        }
        let client = try PollingClient(server)
        try client.connect()
        try client.connect("0/a,")
        try client.post(#"2/a,["leave"]"#, #"2/a,1["echo","late"]"#, "1/a,")
        #expect(try client.poll() == ["1/a,"])
        try client.connect("0/a,")
        try client.post(#"2/a,["echo","again"]"#)
        #expect(try client.poll() == [#"2/a,["echo","again"]"#])
        // The client left the namespace itself, so an event for it is a protocol error.
        try client.post("1/a,")
        try client.post(#"2/a,["echo","late"]"#)
        #expect(server.clientCount == 0)
    }
}
