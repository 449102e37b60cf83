import ApusEngineIOServer
import ApusJSON
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

/// Graceful shutdown of sockets: running handlers finish and their acks are sent. Node's `close()`
/// drops both. `EngineIODrainTests` covers the batches.
@Suite("Socket.IO server: shutdown", .timeLimit(.minutes(5))) struct SocketIODrainTests {
    private func makeServer(drainTimeout: Duration = .seconds(30)) -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.drainTimeout = drainTimeout
        return SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
    }

    @Test func anIdleClientIsClosedImmediatelyAndMayReconnect() async throws {
        let server = self.makeServer()
        let reason = NIOLockedValueBox<SocketIOServerDisconnectReason?>(nil)
        server.namespace("/").onConnection { socket in socket.onDisconnect { value in reason.withLockedValue { $0 = value } } }
        let client = try await AsyncPollingClient(server)
        try await client.connect()
        async let down: Void = server.shutdown()
        // Engine.IO's close packet. A `41` would prevent the client from reconnecting.
        #expect(try await client.packetsUntilClose() == ["1"])
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
        #expect(try await idle.packetsUntilClose() == ["1"])
        open.yield()
        open.finish()
        #expect(try await client.packetsUntilClose() == ["31[41]", "32[42]", "1"])
        await down
    }

    @Test func anAckThatIsSentLaterIsAwaited() async throws {
        let server = self.makeServer()
        let held = NIOLockedValueBox<[SocketIOReceivedEvent]>([])
        server.namespace("/").onConnection { socket in
            socket.on("later") { (event: SocketIOReceivedEvent) in held.withLockedValue { $0.append(event) } }
            socket.on("never") { (_: SocketIOReceivedEvent) in }
        }
        let (client, idle) = (try await AsyncPollingClient(server), try await AsyncPollingClient(server))
        try await client.connect()
        // The server does not wait for an ack that can no longer be sent.
        try await client.post(#"21["later"]"#, #"22["never"]"#, #"23["unknown"]"#)
        async let down: Void = server.shutdown()
        #expect(try await idle.packetsUntilClose() == ["1"])
        for event in held.withLockedValue({ $0 }) { event.acknowledge("done") }
        #expect(try await client.packetsUntilClose() == [#"31["done"]"#, "1"])
        await down
    }

    @Test func theDeadlineEndsTheWait() async throws {
        let server = self.makeServer(drainTimeout: .milliseconds(50))
        let held = NIOLockedValueBox<[SocketIOReceivedEvent]>([])
        server.namespace("/").onConnection { socket in
            socket.on("later") { (event: SocketIOReceivedEvent) in held.withLockedValue { $0.append(event) } }
        }
        let client = try await AsyncPollingClient(server)
        try await client.connect()
        try await client.post(#"21["later"]"#)
        await server.shutdown()
        #expect(try await client.poll() == ["HTTP 400"])
    }
}
