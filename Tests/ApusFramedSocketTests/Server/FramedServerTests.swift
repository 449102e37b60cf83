import ApusFramedProtocol
import ApusFramedSocket
import NIOConcurrencyHelpers
import NIOCore
import Testing

@Suite struct FramedServerTests {
    @Test(.timeLimit(.minutes(5))) func capsHold() async throws {
        var configuration = FramedServerConfiguration()
        configuration.maximumConnections = 2
        let server = echoServer(configuration)
        try await withServer(server) { port in
            let first = try await FramedClient.connect(host: "127.0.0.1", port: port)
            let second = try await FramedClient.connect(host: "127.0.0.1", port: port)
            #expect(server.connectionCount == 2)
            #expect(await code { _ = try await FramedClient.connect(host: "127.0.0.1", port: port) } == .connectionLost)
            await first.close()
            // The connection is no longer counted once its handler has returned.
            var third: FramedConnection?
            while third == nil { third = try? await FramedClient.connect(host: "127.0.0.1", port: port) }
            #expect(third != nil)
            await second.close()
            await third?.close()
        }
        #expect(server.connectionCount == 0)
        #expect(server.connections.isEmpty)
    }

    @Test(.timeLimit(.minutes(5))) func aShutdownSendsBye() async throws {
        let server = echoServer()
        let connections = NIOLockedValueBox<[FramedConnection]>([])
        try await withServer(server) { port in
            for _ in 0..<5 {
                let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
                connections.withLockedValue { $0.append(connection) }
            }
        }
        for connection in connections.withLockedValue({ $0 }) {
            #expect(await connection.waitUntilClosed() == FramedClosure(initiator: .peer, error: nil))
        }
    }

    /// A handler that ignores the close, and a client that does not answer, end at the deadline.
    @Test(.timeLimit(.minutes(5))) func aShutdownHasADeadline() async throws {
        var configuration = FramedServerConfiguration()
        configuration.drainTimeout = .milliseconds(300)
        let wasCancelled = AsyncStream.makeStream(of: Void.self)
        let server = FramedServer(configuration: configuration) { _ in
            try? await Task.sleep(for: .seconds(600))
            wasCancelled.continuation.yield()
        }
        try await withServer(server) { port in _ = try await FramedClient.connect(host: "127.0.0.1", port: port) }
        for await _ in wasCancelled.stream { break }  // long before the ten minutes have passed
    }

    @Test(.timeLimit(.minutes(5))) func aHandlerThatThrowsClosesItsConnection() async throws {
        struct Own: Error {}
        try await withServer(FramedServer { _ in throw Own() }) { port in
            let connection = try await FramedClient.connect(host: "127.0.0.1", port: port)
            #expect(await connection.waitUntilClosed() == FramedClosure(initiator: .peer, error: nil))
        }
    }

    @Test func settingsThatContradictThemselvesAreRefused() async {
        var configuration = FramedServerConfiguration()
        configuration.maximumConnections = 0
        #expect(
            await code { try await FramedServer(configuration: configuration) { _ in }.run(host: "127.0.0.1", port: 0) }
                == .invalidConfiguration)
    }
}
