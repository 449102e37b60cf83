import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOCore
import NIOEmbedded
import Testing

/// Servers of one process in a cluster, on one thread and with a manual clock.
private struct Cluster {
    enum Kind: CaseIterable { case known, heartbeats }

    let clock = EmbeddedEventLoop()
    let hub: SocketIOLocalCluster
    let servers: [SocketIOServer]

    init(_ kind: Kind, servers count: Int = 3) {
        let hub = SocketIOLocalCluster(heartbeat: kind == .heartbeats ? SocketIOClusterHeartbeat() : nil)
        self.hub = hub
        let clock = self.clock
        self.servers = (0..<count).map { _ in Self.makeServer(hub.transport(), clock) }
    }

    static func makeServer(_ transport: any SocketIOClusterTransport, _ clock: any EventLoop) -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        configuration.cluster = transport
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"), clock: clock)
        server.namespace("/").onConnection { socket in
            socket.on("join") { (room: String) in socket.join(room) }
        }
        return server
    }

    subscript(index: Int) -> SocketIONamespace { self.servers[index].namespace("/") }

    /// Connects one client to each server.
    func makeClients() throws -> [PollingClient] {
        try self.servers.map { server in
            let client = try PollingClient(server)
            try client.connect()
            return client
        }
    }
}

@Suite struct SocketIOClusterTests {
    private func answers(_ broadcast: SocketIOBroadcast) -> Box<String> {
        let told = Box<String>()
        broadcast.emitWithAck("ask", arguments: []) { result in
            guard case .success(let answers) = result else { return told.add("\(result)") }
            told.add("\(answers.compactMap { $0.first?.intValue }.sorted()) of \(answers.expectedCount), \(answers.silentServers) silent")
        }
        return told
    }

    private func fetched(_ broadcast: SocketIOBroadcast) -> Box<String> {
        let told = Box<String>()
        broadcast.fetchSockets { result in
            guard case .success(let sockets) = result else { return told.add("\(result)") }
            told.add("\(sockets.count), \(sockets.silentServers) silent")
        }
        return told
    }

    // MARK: To clients

    @Test(arguments: Cluster.Kind.allCases) private func aBroadcastReachesEveryServer(kind: Cluster.Kind) throws {
        let cluster = Cluster(kind)
        let clients = try cluster.makeClients()
        try clients[1].post(#"2["join","red"]"#)
        cluster[0].emit("all", arguments: [.binary([1, 2, 3])])
        cluster[2].to("red").emit("red", 1)
        cluster[1].except("red").emit("others")
        cluster[1].local.emit("local")
        let all = [#"51-["all",{"_placeholder":true,"num":0}]"#, "bAQID"]
        #expect(try clients[0].poll() == all + [#"2["others"]"#])
        #expect(try clients[1].poll() == all + [#"2["red",1]"#, #"2["local"]"#])
        #expect(try clients[2].poll() == all + [#"2["others"]"#])
    }

    @Test func aNamespaceOfOneServerReachesItsClientsOnly() throws {
        let cluster = Cluster(.known, servers: 2)
        cluster.servers[0].namespace("/only").onConnection { _ in }
        let client = try PollingClient(cluster.servers[0])
        try client.connect("0/only,")
        cluster.servers[1].namespace("/").emit("not here")
        cluster.servers[0].namespace("/only").emit("here")
        #expect(try client.poll() == [#"2/only,["here"]"#])
        #expect(self.fetched(cluster.servers[0].namespace("/only").broadcast).all == ["1, 0 silent"])
    }

    @Test(arguments: Cluster.Kind.allCases) private func acksComeFromEveryServer(kind: Cluster.Kind) throws {
        let cluster = Cluster(kind)
        let clients = try cluster.makeClients()
        let told = self.answers(cluster[0].broadcast)
        for (index, client) in clients.enumerated() {
            #expect(try client.poll() == [#"20["ask"]"#])
            #expect(told.all == [])
            try client.post("30[\(index)]")
        }
        #expect(told.all == ["[0, 1, 2] of 3, 0 silent"])
    }

    @Test(arguments: Cluster.Kind.allCases) private func oneClientThatDoesNotAckCostsItsAnswer(kind: Cluster.Kind) throws {
        let cluster = Cluster(kind)
        let clients = try cluster.makeClients()
        let told = self.answers(cluster[0].timeout(.seconds(2)))
        _ = try clients.map { try $0.poll() }
        try clients[2].post("30[2]")
        cluster.clock.advanceTime(by: .seconds(2))
        #expect(told.all == ["[2] of 3, 0 silent"])
        // Its late ack has no effect.
        try clients[1].post("30[1]")
        #expect(cluster.servers[1].clientCount == 1)
    }

    // MARK: Sockets

    @Test(arguments: Cluster.Kind.allCases) private func socketsAreFetchedAndMovedWhereverTheyAre(kind: Cluster.Kind) throws {
        let cluster = Cluster(kind)
        let clients = try cluster.makeClients()
        cluster[2].onConnection { socket in socket.data = ["n": 1] }
        let told = Box<SocketIOResponses<SocketIORemoteSocket>>()
        cluster[0].fetchSockets { if case .success(let sockets) = $0 { told.add(sockets) } }
        let sockets = try #require(told.all.first)
        #expect(sockets.isComplete)
        #expect(Set(sockets.map(\.id)) == Set((0..<3).compactMap { cluster[$0].sockets.first?.id }))
        let far = try #require(sockets.first { $0.id == cluster[2].sockets.first?.id })
        #expect(far.handshake.query["a"] == "b")
        #expect(far.handshake.address == "127.0.0.1")
        far.join("red", "blue")
        far.leave("blue")
        #expect(cluster[2].sockets.first?.rooms == ["red", far.id])
        far.emit("you", 1)
        far.disconnect()
        #expect(try clients[2].poll() == [#"2["you",1]"#, "1"])
        #expect(self.fetched(cluster[1].broadcast).all == ["2, 0 silent"])
        #expect(self.fetched(cluster[1].local).all == ["1, 0 silent"])
    }

    @Test(arguments: Cluster.Kind.allCases) private func manySocketsJoinLeaveAndAreDisconnected(kind: Cluster.Kind) throws {
        let cluster = Cluster(kind)
        let clients = try cluster.makeClients()
        cluster[0].socketsJoin("a", "b")
        cluster[1].in("a").socketsLeave("b")
        #expect((0..<3).map { cluster[$0].sockets(in: "a").count } == [1, 1, 1])
        #expect((0..<3).map { cluster[$0].sockets(in: "b").count } == [0, 0, 0])
        cluster[2].in("a").disconnectSockets(close: true)
        // The DISCONNECT packet of the namespace, and then the close packet of the connection.
        for client in clients {
            #expect(try client.poll() == ["1"])
            #expect(try client.poll() == ["1"])
        }
        #expect(cluster.servers.map(\.clientCount) == [0, 0, 0])
    }

    // MARK: Between servers

    @Test(arguments: Cluster.Kind.allCases) private func serversNotifyEachOther(kind: Cluster.Kind) throws {
        let cluster = Cluster(kind)
        let told = Box<String>()
        for index in 0..<3 {
            cluster[index].onServerSideEvent("hello") { event in
                told.add("\(index): \(event.arguments) \(event.wantsAcknowledgement)")
                event.acknowledge(.integer(Int64(index)))
                event.acknowledge("again")
            }
        }
        cluster[0].serverSideEmit("hello", "x")
        #expect(told.all.sorted() == ["1: \([SocketIOValue.string("x")]) false", "2: \([SocketIOValue.string("x")]) false"])
        let answers = Box<SocketIOResponses<SocketIOValue>>()
        cluster[1].serverSideEmitWithAck("hello", arguments: []) { if case .success(let all) = $0 { answers.add(all) } }
        let all = try #require(answers.all.first)
        #expect(all.isComplete)
        #expect(all.compactMap(\.intValue).sorted() == [0, 2])
    }

    @Test func aServerAloneGetsNoAnswers() {
        let server = SocketIOServer(configuration: .init(), logger: Logger(label: "test"), clock: EmbeddedEventLoop())
        let answers = Box<Bool>()
        server.namespace("/").serverSideEmit("hello")
        server.namespace("/").serverSideEmitWithAck("hello", arguments: []) {
            if case .success(let all) = $0 { answers.add(all.isComplete) }
        }
        #expect(answers.all == [true])
    }

    @Test(arguments: Cluster.Kind.allCases) private func anEmitterPublishesWithoutBeingAServer(kind: Cluster.Kind) throws {
        let cluster = Cluster(kind)
        let clients = try cluster.makeClients()
        let told = Box<Bool>()
        cluster[1].onServerSideEvent("job") { told.add($0.wantsAcknowledgement) }
        let emitter = SocketIOClusterEmitter(cluster.hub.publisher)
        try clients[0].post(#"2["join","red"]"#)
        try emitter.to("red").emit("shipped", 1)
        try emitter.except("red").emit("others")
        try emitter.namespace("/nowhere").emit("nobody")
        emitter.to("red").socketsJoin("blue")
        emitter.serverSideEmit("job", arguments: [])
        #expect(cluster[0].sockets(in: "blue").count == 1)
        #expect(told.all == [false])
        #expect(try clients[0].poll() == [#"2["shipped",1]"#])
        #expect(try clients[1].poll() == [#"2["others"]"#])
        #expect(self.fetched(cluster[0].broadcast).all == ["3, 0 silent"])
        emitter.disconnectSockets()
        #expect(self.fetched(cluster[0].broadcast).all == ["0, 0 silent"])
    }

    // MARK: Failed and hung servers

    @Test(arguments: [SocketIOClusterServers.count(2), .nodes(["a", "b"])]) func hungServersCauseMissingAnswers(
        servers: SocketIOClusterServers
    ) throws {
        let clock = EmbeddedEventLoop()
        let transport = HungTransport(servers: servers)
        let server = Cluster.makeServer(transport, clock)
        let client = try PollingClient(server)
        try client.connect()
        let acks = self.answers(server.namespace("/").broadcast)
        let sockets = self.fetched(server.namespace("/").broadcast)
        #expect(try client.poll() == [#"20["ask"]"#])
        try client.post("30[7]")
        clock.advanceTime(by: .milliseconds(4_999))
        #expect(sockets.all == [])
        clock.advanceTime(by: .milliseconds(1))
        #expect(sockets.all == ["1, 2 silent"])
        clock.advanceTime(by: .seconds(15))
        #expect(acks.all == ["[7] of 1, 2 silent"])
    }

    @Test func aRequestEndsAtItsDeadlineWithoutAListOfServers() throws {
        let clock = EmbeddedEventLoop()
        let server = Cluster.makeServer(HungTransport(), clock)
        let sockets = self.fetched(server.namespace("/").broadcast)
        clock.advanceTime(by: .seconds(5))
        #expect(sockets.all == ["0, 1 silent"])
    }

    @Test func aServerThatDiesIsNotAwaited() throws {
        let clock = EmbeddedEventLoop()
        let transport = HungTransport(servers: .nodes(["a", "b"]))
        let server = Cluster.makeServer(transport, clock)
        let sockets = self.fetched(server.namespace("/").broadcast)
        let request = try #require(transport.lastRequest)
        let receiver = try #require(transport.receiver)
        receiver.receivedResponse(SocketIOClusterResponse(sender: "a", namespace: "/", request: request, content: .sockets([])))
        #expect(sockets.all == [])
        receiver.left("b")
        #expect(sockets.all == ["0, 1 silent"])
        // Responses that are late, repeated or not requested.
        receiver.receivedResponse(SocketIOClusterResponse(sender: "b", namespace: "/", request: request, content: .sockets([])))
        receiver.receivedResponse(SocketIOClusterResponse(sender: nil, namespace: "/", request: "x", content: .clientCount(-1)))
        #expect(sockets.all.count == 1)
    }

    @Test func aShutDownServerLeavesTheCluster() async throws {
        let hub = SocketIOLocalCluster()
        await Cluster.makeServer(hub.transport(), NIOAsyncTestingEventLoop()).shutdown()
        // The server is created here, because an embedded event loop must stay on its thread.
        let server = Cluster.makeServer(hub.transport(), EmbeddedEventLoop())
        #expect(self.fetched(server.namespace("/").broadcast).all == ["0, 0 silent"])
    }

    @Test func aReleasedServerLeavesTheCluster() throws {
        let hub = SocketIOLocalCluster()
        let clock = EmbeddedEventLoop()
        let server = Cluster.makeServer(hub.transport(), clock)
        do { _ = Cluster.makeServer(hub.transport(), clock) }
        #expect(self.fetched(server.namespace("/").broadcast).all == ["0, 0 silent"])
    }

    @Test func heartbeatsIdentifyTheServers() throws {
        let clock = EmbeddedEventLoop()
        let transport = BeatingTransport()
        let server = Cluster.makeServer(transport, clock)
        let receiver = try #require(transport.hung.receiver)
        #expect(transport.hung.sent.map(\.content) == [.initialHeartbeat])
        receiver.receivedMessage(SocketIOClusterMessage(sender: "a", namespace: "/", content: .initialHeartbeat))
        receiver.receivedMessage(SocketIOClusterMessage(sender: .emitter, namespace: "/", content: .heartbeat))
        #expect(transport.hung.sent.map(\.content) == [.initialHeartbeat, .heartbeat])
        let sockets = self.fetched(server.namespace("/").timeout(.seconds(3600)))
        clock.advanceTime(by: .seconds(9))
        #expect(sockets.all == [], "it may still answer")
        clock.advanceTime(by: .seconds(1))
        #expect(sockets.all == ["0, 1 silent"])
        #expect(transport.hung.sent.suffix(2).map(\.content) == [.heartbeat, .heartbeat])
    }

    @Test func anAnsweringSocketIsReleasedBeforeTheTimeout() throws {
        let cluster = Cluster(.known, servers: 2)
        let client = try PollingClient(cluster.servers[1])
        try client.connect()
        weak let socket = cluster[1].sockets.first
        let told = self.answers(cluster[0].timeout(.seconds(3600)))
        #expect(try client.poll() == [#"20["ask"]"#])
        try client.post("30[5]")
        #expect(told.all == ["[5] of 1, 0 silent"])
        try client.post("1")
        #expect(socket == nil)
    }

    @Test func aCloseMessageRemovesTheServer() throws {
        let transport = BeatingTransport()
        let server = Cluster.makeServer(transport, EmbeddedEventLoop())
        let receiver = try #require(transport.hung.receiver)
        receiver.receivedMessage(SocketIOClusterMessage(sender: "a", namespace: "/", content: .heartbeat))
        let sockets = self.fetched(server.namespace("/").broadcast)
        #expect(sockets.all == [])
        receiver.receivedMessage(SocketIOClusterMessage(sender: "a", namespace: "/", content: .close))
        #expect(sockets.all == ["0, 1 silent"])
        #expect(self.fetched(server.namespace("/").broadcast).all == ["0, 0 silent"])
    }
}

/// A transport without answers, with heartbeats.
private final class BeatingTransport: SocketIOClusterTransport {
    let hung = HungTransport()
    let heartbeat: SocketIOClusterHeartbeat? = SocketIOClusterHeartbeat()

    func start(_ receiver: any SocketIOClusterReceiver) { self.hung.start(receiver) }
    func stop() { self.hung.stop() }
    func publish(_ message: SocketIOClusterMessage) { self.hung.publish(message) }
    func respond(_ response: SocketIOClusterResponse, to node: SocketIONodeID) {}
}
