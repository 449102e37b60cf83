import ApusJSON
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

/// Section 7: "close() drops everything: no `41`, no drain | graceful drain: stop accepting, tell clients, flush acks, close in jittered batches
/// by a deadline". The batches are Engine.IO's (`EngineIODrainTests`); here is what is under way in sockets.
@Suite("Socket.IO server: going down", .timeLimit(.minutes(1))) struct SocketIODrainTests {
    private func makeServer(drainTimeout: Duration = .seconds(30)) -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        configuration.drainTimeout = drainTimeout
        return SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
    }

    @Test func anIdleClientIsClosedAtOnceAndMayComeBack() async throws {
        let server = self.makeServer()
        let reason = NIOLockedValueBox<SocketIODisconnectReason?>(nil)
        server.namespace("/").onConnection { socket in socket.onDisconnect { value in reason.withLockedValue { $0 = value } } }
        let client = try await AsyncPollingClient(server)
        try await client.connect()
        async let down: Void = server.shutdown()
        // Engine.IO's close, no `41`: that would tell the client to stay away.
        #expect(try await client.lastWords() == ["1"])
        await down
        #expect(reason.withLockedValue { $0 } == .serverShuttingDown)
    }

    @Test func asynchronousHandlersFinishAndTheirAcksAreSent() async throws {
        let server = self.makeServer()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        server.namespace("/").onConnection { socket in
            socket.on("work") { (number: Int) async in
                for await _ in gate { break }
                return number
            }
        }
        let (client, idle) = (try await AsyncPollingClient(server), try await AsyncPollingClient(server))
        try await client.connect()
        try await client.post(#"21["work",41]"#, #"22["work",42]"#)
        async let down: Void = server.shutdown()
        #expect(try await idle.lastWords() == ["1"])
        open.yield()
        open.finish()
        #expect(try await client.lastWords() == ["31[41]", "32[42]", "1"])
        await down
    }

    @Test func anAckThatIsSentLaterIsWaitedFor() async throws {
        let server = self.makeServer()
        let held = NIOLockedValueBox<[SocketIOEvent]>([])
        server.namespace("/").onConnection { socket in
            socket.on("later") { (event: SocketIOEvent) in held.withLockedValue { $0.append(event) } }
            socket.on("never") { (_: SocketIOEvent) in }
        }
        let (client, idle) = (try await AsyncPollingClient(server), try await AsyncPollingClient(server))
        try await client.connect()
        // One that nobody can answer any more is not waited for.
        try await client.post(#"21["later"]"#, #"22["never"]"#, #"23["unknown"]"#)
        async let down: Void = server.shutdown()
        #expect(try await idle.lastWords() == ["1"])
        for event in held.withLockedValue({ $0 }) { event.acknowledge("done") }
        #expect(try await client.lastWords() == [#"31["done"]"#, "1"])
        await down
    }

    @Test func theDeadlineEndsTheWait() async throws {
        let server = self.makeServer(drainTimeout: .milliseconds(50))
        let held = NIOLockedValueBox<[SocketIOEvent]>([])
        server.namespace("/").onConnection { socket in
            socket.on("later") { (event: SocketIOEvent) in held.withLockedValue { $0.append(event) } }
        }
        let client = try await AsyncPollingClient(server)
        try await client.connect()
        try await client.post(#"21["later"]"#)
        await server.shutdown()
        #expect(try await client.poll() == ["HTTP 400"])
    }
}
