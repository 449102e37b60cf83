import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import ApusSocketIOServer
import NIOCore
import Testing

@testable import ApusSocketIOClient

/// Connection state recovery between the client and the server of Apus.
@Suite(.timeLimit(.minutes(5))) struct OwnServerRecoveryTests {
    private static let seconds = Duration.seconds(60)

    /// Breaks the connection without a close, and waits until the server detects it.
    private func lose(_ manager: SocketIOManager, _ losses: AsyncStream<Void>) async {
        manager.lifetime.core.onLoop { $0.fail(EngineIOError(.transportError, message: "pulled out")) }
        _ = await losses.first { _ in true }
    }

    @Test(arguments: Way.allCases) func aLostClientRecoversItsStateAndMissedEvents(way: Way) async throws {
        var configuration = SocketIOServerConfiguration()
        configuration.connectionStateRecovery = .init()
        let server = SocketIOServer(configuration: configuration)
        let room = server.namespace("/").to("room")
        let (losses, lost) = AsyncStream.makeStream(of: Void.self)
        server.namespace("/").onConnection { socket in
            if !socket.isRecovered { socket.join("room") }
            socket.on("begin") { () -> Void in room.emit("number", 0) }
            socket.onDisconnect { _ in
                for number in 1...100 { room.emit("number", number) }
                lost.yield()
            }
        }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { found.yield($0.port ?? 0) } }
        defer { running.cancel() }
        let port = try #require(await ports.first { _ in true })
        let manager = SocketIOManager(
            url: "http://127.0.0.1:\(port)", configuration: way.configuration(reconnection: .fixed(.seconds(3600))))
        let socket = manager.defaultSocket
        let numbers = socket.messages("number", as: Int.self, bufferingPolicy: .unbounded)
        let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
        try await socket.connect(timeout: Self.seconds)
        let id = socket.id

        // A socket without events: it has the offset of its CONNECT.
        await self.lose(manager, losses)
        manager.reconnect()
        _ = await lifecycle.first { $0.kind == .reconnect }
        #expect(socket.isRecovered)
        #expect(socket.id == id)
        var received: [Int] = []
        for await number in numbers.prefix(100) { received.append(number) }
        #expect(received == Array(1...100))

        // The socket is still in its room.
        socket.emit("begin")
        #expect(await numbers.first { _ in true } == 0)
        await self.lose(manager, losses)
        manager.reconnect()
        _ = await lifecycle.first { $0.kind == .reconnect }
        #expect(socket.isRecovered)
        received = []
        for await number in numbers.prefix(100) { received.append(number) }
        #expect(received == Array(1...100))
        await manager.close()
        running.cancel()
        try await running.value
    }
}
