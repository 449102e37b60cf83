import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import NIOCore
import Testing

/// The cluster transports. A new transport adds a case and must pass the same tests.
enum ClusterKind: String, CaseIterable, CustomTestStringConvertible {
    /// In one process, with a cluster that knows its servers.
    case inProcess
    /// In one process, with servers that find each other by heartbeats.
    case inProcessHeartbeats

    var testDescription: String { self.rawValue }

    /// Returns connected transports and a publisher for an emitter.
    func makeTransports(_ count: Int) -> (transports: [any SocketIOClusterTransport], publisher: any SocketIOClusterPublisher) {
        let cluster = SocketIOLocalCluster(heartbeat: self == .inProcessHeartbeats ? SocketIOClusterHeartbeat() : nil)
        return ((0..<count).map { _ in cluster.transport() }, cluster.publisher)
    }
}

/// Three servers on the loopback with one client each. Every wait has a deadline, because a
/// transport may be slow.
@Suite(.timeLimit(.minutes(5)))
struct ClusterConformanceTests {
    private static let seconds = Duration.seconds(60)

    /// The servers and clients of a test.
    private struct World {
        let servers: [SocketIONamespace]
        let clients: [SocketIOClient]
        let emitter: SocketIOClusterEmitter

        /// Waits until each client's listeners are registered. The registration reaches the event
        /// loop in its next turn, after events that are read in the same turn.
        func listen() async throws {
            let answers = try await self.servers[0].timeout(ClusterConformanceTests.seconds).emitWithAck("here", 0, as: Int.self)
            #expect(answers.isComplete)
        }

        /// Waits until `condition` holds, or records an issue after the deadline.
        func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
            let deadline = ContinuousClock.now + ClusterConformanceTests.seconds
            while try await !condition() {
                guard ContinuousClock.now < deadline else {
                    Issue.record("not within the deadline: \(what)")
                    return
                }
                await Task.yield()
            }
        }
    }

    private func withCluster(_ kind: ClusterKind, _ body: (World) async throws -> Void) async throws {
        let (transports, publisher) = kind.makeTransports(3)
        let servers = transports.map { transport in
            var configuration = SocketIOServerConfiguration()
            configuration.cluster = transport
            return SocketIOServer(configuration: configuration)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            var managers: [SocketIOManager] = []
            for (index, server) in servers.enumerated() {
                server.namespace("/").onConnection { socket in
                    socket.join("all")
                    socket.data = ["server": .integer(Int64(index))]
                }
                let (ports, found) = AsyncStream.makeStream(of: Int.self)
                group.addTask { try await server.run(host: "127.0.0.1", port: 0) { found.yield($0.port ?? 0) } }
                let port = try #require(await ports.first { _ in true })
                managers.append(SocketIOManager(url: "http://127.0.0.1:\(port)", configuration: .init(transports: [.webSocket])))
            }
            for (index, manager) in managers.enumerated() {
                let client = manager.defaultSocket
                client.on("ask") { (number: Int) in number * 10 + index }
                client.on("here") { (number: Int) in number }
                try await client.connect(timeout: Self.seconds)
            }
            let namespaces = servers.map { $0.namespace("/") }
            let world = World(
                servers: namespaces, clients: managers.map(\.defaultSocket), emitter: SocketIOClusterEmitter(publisher))
            try await world.eventually("all servers know each other") {
                for namespace in namespaces where try await namespace.fetchSockets().count != 3 { return false }
                return true
            }
            try await body(world)
            for manager in managers { manager.disconnect() }
            group.cancelAll()
        }
    }

    @Test(arguments: ClusterKind.allCases) func broadcastsReachTheClientsOfEveryServerInOrder(kind: ClusterKind) async throws {
        try await self.withCluster(kind) { world in
            let streams = world.clients.map { $0.messages("news", as: SocketIOValue.self, bufferingPolicy: .unbounded) }
            try await world.listen()
            for number in 0..<100 { world.servers[1].emit("news", number) }
            world.servers[1].emit("news", arguments: [.binary(Array(repeating: 7, count: 100_000))])
            for stream in streams {
                var received: [SocketIOValue] = []
                for await value in stream.prefix(101) { received.append(value) }
                #expect(received.prefix(100) == ArraySlice((0..<100).map { .integer($0) }))
                #expect(received.last == .binary(Array(repeating: 7, count: 100_000)))
            }
        }
    }

    @Test(arguments: ClusterKind.allCases) func roomsExceptionsAndLocalHoldOverTheCluster(kind: ClusterKind) async throws {
        try await self.withCluster(kind) { world in
            let streams = world.clients.map { $0.messages("news", as: String.self, bufferingPolicy: .unbounded) }
            try await world.listen()
            world.servers[2].sockets.first?.join("red")
            world.servers[1].sockets.first?.join("red", "blue")
            world.servers[0].to("red").emit("news", "red")
            world.servers[0].to("red").except("blue").emit("news", "red but not blue")
            world.servers[0].local.emit("news", "local")
            world.servers[0].emit("news", "last")
            var heard: [[String]] = []
            for stream in streams {
                var own: [String] = []
                for await text in stream {
                    own.append(text)
                    if text == "last" { break }
                }
                heard.append(own)
            }
            #expect(heard == [["local", "last"], ["red", "last"], ["red", "red but not blue", "last"]])
        }
    }

    @Test(arguments: ClusterKind.allCases) func acksAreGatheredFromEveryServer(kind: ClusterKind) async throws {
        try await self.withCluster(kind) { world in
            for namespace in world.servers {
                let answers = try await namespace.timeout(Self.seconds).emitWithAck("ask", 4, as: Int.self)
                #expect(answers.isComplete)
                #expect(answers.sorted() == [40, 41, 42])
            }
            let nobody = try await world.servers[0].timeout(Self.seconds).to("nobody's").emitWithAck("ask", 4, as: Int.self)
            #expect(nobody.isComplete)
            #expect(nobody.isEmpty)
        }
    }

    @Test(arguments: ClusterKind.allCases) func aSilentSocketCostsOneAnswer(kind: ClusterKind) async throws {
        try await self.withCluster(kind) { world in
            world.clients[1].off("ask")
            try await world.listen()
            // The first round is long enough for the others, unless the machine is busy.
            for timeout in [Duration.milliseconds(500), .seconds(4), .seconds(60)] {
                let answers = try await world.servers[0].timeout(timeout).emitWithAck("ask", 4, as: Int.self)
                #expect(!answers.isComplete && answers.end == .timedOut)
                #expect(answers.expectedCount == 3)
                if answers.count < 2, timeout < .seconds(60) { continue }
                #expect(answers.sorted() == [40, 42])
                break
            }
        }
    }

    @Test(arguments: ClusterKind.allCases) func socketsAreFetchedAndMovedFromEverywhere(kind: ClusterKind) async throws {
        try await self.withCluster(kind) { world in
            let sockets = try await world.servers[0].in("all").fetchSockets()
            #expect(sockets.isComplete)
            #expect(sockets.compactMap { $0.data["server"]?.intValue }.sorted() == [0, 1, 2])
            let far = try #require(sockets.first { $0.data["server"] == 2 })
            #expect(far.handshake.address == "127.0.0.1")
            let you = world.clients[2].messages("you", as: Int.self, bufferingPolicy: .unbounded)
            try await world.listen()
            far.join("red")
            far.emit("you", 7)
            #expect(await you.first { _ in true } == 7)
            #expect(try await world.servers[1].in("red").fetchSockets().map(\.id) == [far.id])
            world.servers[1].in("red").socketsLeave("red")
            try await world.eventually("the room is empty") { world.servers[2].sockets(in: "red").isEmpty }
            far.disconnect()
            try await world.eventually("the client is disconnected") { world.clients[2].state == .disconnected }
            #expect(try await world.servers[0].fetchSockets().count == 2)
        }
    }

    @Test(arguments: ClusterKind.allCases) func serversAskEachOther(kind: ClusterKind) async throws {
        try await self.withCluster(kind) { world in
            for (index, namespace) in world.servers.enumerated() {
                namespace.onServerSideEvent("who") { event in
                    event.acknowledge(["server": .integer(Int64(index)), "asked": event.arguments[0]])
                }
            }
            let answers = try await world.servers[1].serverSideEmitWithAck("who", arguments: ["x"], timeout: Self.seconds)
            #expect(answers.isComplete)
            #expect(answers.compactMap { $0["server"]?.intValue }.sorted() == [0, 2])
            #expect(answers.allSatisfy { $0["asked"] == "x" })
        }
    }

    @Test(arguments: ClusterKind.allCases) func anEmitterReachesClientsAndIsNotCounted(kind: ClusterKind) async throws {
        try await self.withCluster(kind) { world in
            let streams = world.clients.map { $0.messages("shipped", as: Int.self, bufferingPolicy: .unbounded) }
            try await world.listen()
            try world.emitter.to("all").emit("shipped", 3)
            for stream in streams { #expect(await stream.first { _ in true } == 3) }
            #expect(try await world.servers[0].fetchSockets().isComplete)
            world.emitter.disconnectSockets(close: true)
            try await world.eventually("all sockets are disconnected") { world.servers.allSatisfy { $0.sockets.isEmpty } }
        }
    }
}
