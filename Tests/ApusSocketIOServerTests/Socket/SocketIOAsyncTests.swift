import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

private struct Refused: Error {}

/// Asynchronous operations: waits for acks, handlers and middleware.
@Suite("Socket.IO server: suspending handlers", .timeLimit(.minutes(5))) struct SocketIOAsyncTests {
    /// Connects a client and returns it with its socket.
    private func connect(
        _ configuration: SocketIOServerConfiguration = .init(),
        onConnection: @escaping @Sendable (SocketIOServerSocket) -> Void = { _ in }
    ) async throws -> (AsyncPollingClient, SocketIOServerSocket, SocketIOServer) {
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        server.namespace("/").onConnection(onConnection)
        let client = try await AsyncPollingClient(server)
        try await client.connect()
        return (client, try #require(server.namespace("/").sockets.first), server)
    }

    @Test func anAckIsAwaited() async throws {
        let (client, socket, server) = try await self.connect()
        async let sum = socket.emitWithAck("add", 1, 2, as: Int.self)
        #expect(try await client.poll() == [#"20["add",1,2]"#])
        try await client.post("30[3]")
        #expect(try await sum == 3)
        async let flagged = socket.timeout(.seconds(60)).compress(false).emitWithAck("again", arguments: [])
        #expect(try await client.poll() == [#"21["again"]"#])
        try await client.post(#"31["x",null]"#)
        #expect(try await flagged == ["x", nil])
        withExtendedLifetime(server) {}
    }

    @Test func cancellationEndsTheWait() async throws {
        let (client, socket, server) = try await self.connect()
        let waiting = Task { try await socket.emitWithAck("question", arguments: [], timeout: .seconds(3600)) }
        #expect(try await client.poll() == [#"20["question"]"#])
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        // The late ack has no effect.
        try await client.post("30[1]")
        // The task is cancelled before it starts: the event is not sent.
        let never = Task {
            try? await Task.sleep(for: .seconds(3600))
            return try await socket.emitWithAck("never", arguments: [])
        }
        never.cancel()
        await #expect(throws: CancellationError.self) { try await never.value }
        socket.emit("next")
        #expect(try await client.poll() == [#"2["next"]"#])
        withExtendedLifetime(server) {}
    }

    @Test func aClientThatLeavesEndsTheWait() async throws {
        let (client, socket, server) = try await self.connect()
        let answer = Task { try await socket.emitWithAck("question", arguments: [], timeout: .seconds(3600)) }
        #expect(try await client.poll() == [#"20["question"]"#])
        try await client.lose()
        let error = await #expect(throws: SocketIOError.self) { try await answer.value }
        #expect(error?.code == .disconnected)
        withExtendedLifetime(server) {}
    }

    @Test func aWaitForOtherServersEndsWithItsTask() async throws {
        let pendingRequests = SocketIOServer(logger: Logger(label: "test")).namespace("/")
        let hung = HungTransport()
        var configuration = SocketIOServerConfiguration()
        configuration.cluster = hung
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        let wait = Task { try await server.namespace("/").timeout(.seconds(3600)).fetchSockets() }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        #expect(try await pendingRequests.fetchSockets().isComplete)
    }

    @Test func asynchronousMiddlewareKeepsTheOrder() async throws {
        let refused = NIOLockedValueBox<[String]>([])
        var configuration = SocketIOServerConfiguration()
        configuration.onHandlerError = { error, event, _ in refused.withLockedValue { $0.append("\(event.name) \(type(of: error))") } }
        let (client, _, server) = try await self.connect(configuration) { socket in
            socket.use { (event: SocketIOReceivedEvent) async throws in
                await Task.yield()
                if event.name == "bad" { throw Refused() }
            }
            socket.use { event in if event.name == "worse" { throw Refused() } }
            socket.on("n") { (number: Int) in number }
            socket.on("slow") { (number: Int) async in number }
            socket.on("bad") { () in 0 }
            socket.on("worse") { () in 0 }
        }
        try await client.post(#"21["n",1]"#, #"22["bad"]"#, #"23["n",3]"#, #"24["worse"]"#, #"25["slow",5]"#, #"26["n",6]"#)
        var answers: [String] = []
        while answers.count < 4 { answers += try await client.poll() }
        // Asynchronous handlers run after the checks that were queued before them.
        #expect(answers.sorted() == ["31[1]", "33[3]", "35[5]", "36[6]"])
        #expect(answers.filter { $0 != "35[5]" } == ["31[1]", "33[3]", "36[6]"])
        #expect(refused.withLockedValue { $0 } == ["bad Refused", "worse Refused"])
        withExtendedLifetime(server) {}
    }

    @Test func asynchronousHandlersRunOneAfterTheOther() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (client, _, server) = try await self.connect { socket in
            socket.on("wait") { () async in
                for await _ in gate { break }
                return "first"
            }
            socket.on("raw") { (event: SocketIOReceivedEvent) async in event.acknowledge("second") }
            socket.on("now") { () in "at once" }
        }
        try await client.post(#"21["wait"]"#, #"22["raw"]"#, #"23["now"]"#)
        #expect(try await client.poll() == [#"33["at once"]"#])
        open.yield()
        open.finish()
        var answers: [String] = []
        while answers.count < 2 { answers += try await client.poll() }
        #expect(answers == [#"31["first"]"#, #"32["second"]"#])
        withExtendedLifetime(server) {}
    }

    @Test func handlersThatFallTooFarBehindCostTheConnection() async throws {
        let (reasons, reason) = AsyncStream.makeStream(of: SocketIOServerDisconnectReason.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        var configuration = SocketIOServerConfiguration()
        configuration.maximumWaitingEvents = 3
        let (client, _, server) = try await self.connect(configuration) { socket in
            socket.onDisconnect { reason.yield($0) }
            socket.on("wait") { () async in for await _ in gate { break } }
        }
        try await client.post(#"2["wait"]"#, #"2["wait"]"#, #"2["wait"]"#, #"2["wait"]"#, #"2["wait"]"#)
        let seen = try #require(await reasons.first { _ in true })
        #expect(seen == .forcedServerClose)
        #expect(seen.detail == "more than 3 events wait for their handlers (`maximumWaitingEvents`)")
        open.finish()
        withExtendedLifetime(server) {}
    }

    @Test func aSingleEventMayBeLargerThanTheBound() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        var configuration = SocketIOServerConfiguration()
        configuration.maximumWaitingEventBytes = 100
        let (client, _, server) = try await self.connect(configuration) { socket in
            socket.on("wait") { (text: String) async in
                for await _ in gate { break }
                return text.count
            }
        }
        try await client.post(#"21["wait","\#(String(repeating: "x", count: 200))"]"#)
        open.yield()
        #expect(try await client.poll() == ["31[200]"])
        withExtendedLifetime(server) {}
    }

    @Test func eventsThatWaitAreBoundedByTheirBytes() async throws {
        let (reasons, reason) = AsyncStream.makeStream(of: SocketIOServerDisconnectReason.self)
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        var configuration = SocketIOServerConfiguration()
        configuration.maximumWaitingEventBytes = 100
        let (client, _, server) = try await self.connect(configuration) { socket in
            socket.onDisconnect { reason.yield($0) }
            socket.on("wait") { (_: String) async in for await _ in gate { break } }
            socket.on("done") { () async in "done" }
        }
        let event = #"2["wait","\#(String(repeating: "x", count: 40))"]"#
        try await client.post(event, #"21["done"]"#)
        open.yield()
        // The handlers run one after the other: the first event is done when the second is
        // answered.
        #expect(try await client.poll() == [#"31["done"]"#])
        try await client.post(event)
        try await client.post(event)
        let seen = try #require(await reasons.first { _ in true })
        #expect(seen == .forcedServerClose)
        #expect(seen.detail == "more than 100 bytes of events wait for their handlers (`maximumWaitingEventBytes`)")
        open.finish()
        withExtendedLifetime(server) {}
    }

    @Test func aVolatileEventThatIsDroppedIsNotAwaited() async throws {
        let (client, socket, server) = try await self.connect()
        // The client does not poll.
        let error = await #expect(throws: SocketIOError.self) {
            try await socket.volatile.timeout(.seconds(3600)).emitWithAck("x", arguments: [])
        }
        #expect(error?.code == .notConnected)
        let answers = try await server.namespace("/").volatile.timeout(.seconds(3600)).emitWithAck("x", arguments: [])
        #expect(answers.isEmpty)
        #expect(answers.expectedCount == 1)
        withExtendedLifetime(client) {}
    }
}
