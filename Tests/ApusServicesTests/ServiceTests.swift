import ApusEventLoop
import ApusFramedSocket
import ApusServices
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import ApusWebSocket
import ApusWebSocketProtocol
import Logging
import NIOCore
import ServiceLifecycle
import Testing

@Suite(.timeLimit(.minutes(5))) struct ServiceTests {
    /// A started service, the address of its listener, and the end of its group.
    private struct Running {
        let group: ServiceGroup
        let task: Task<Void, any Error>

        init(_ services: [any Service]) {
            let group = ServiceGroup(services: services, logger: Logger(label: "test"))
            self.group = group
            self.task = Task { try await group.run() }
        }

        func stop() async throws {
            await self.group.triggerGracefulShutdown()
            try await self.task.value
        }
    }

    private let addresses = AsyncStream.makeStream(of: Int.self)

    private var report: @Sendable (SocketAddress) -> Void {
        { [continuation = self.addresses.continuation] in continuation.yield($0.port ?? 0) }
    }

    private func port() async -> Int {
        for await port in self.addresses.stream { return port }
        return 0
    }

    @Test func aSocketIOServerAndAClientRunAndShutDown() async throws {
        let server = SocketIOServer()
        server.namespace("/").onConnection { socket in socket.on("add") { (a: Int, b: Int) in a + b } }
        let servers = Running([server.service(host: "127.0.0.1", port: 0, onListening: self.report)])
        let manager = SocketIOManager(url: "http://127.0.0.1:\(await self.port())")
        let clients = Running([manager.service()])
        let sum = try await manager.defaultSocket.emitWithAck("add", 1, 2, timeout: .seconds(60), as: Int.self)
        #expect(sum == 3)
        try await clients.stop()
        #expect(manager.defaultSocket.state == .disconnected)
        try await servers.stop()
        #expect(server.clientCount == 0)
    }

    @Test func aWebSocketServerAndASessionRunAndShutDown() async throws {
        let codes = AsyncStream.makeStream(of: WebSocketCloseCode.self)
        let server = WebSocketServer { connection in
            try await connection.send("hello")
            codes.continuation.yield(await connection.waitUntilClosed().code)
        }
        let servers = Running([server.service(host: "127.0.0.1", port: 0, onListening: self.report)])
        let session = WebSocketSession("ws://127.0.0.1:\(await self.port())/")
        var messages = session.messages.makeAsyncIterator()
        let clients = Running([session.service()])
        #expect(try await messages.next() == "hello")
        try await clients.stop()
        for await code in codes.stream {
            #expect(code == .goingAway)
            break
        }
        try await servers.stop()
    }

    @Test func aFramedServerRunsAndShutsDown() async throws {
        let server = FramedServer { connection in for try await message in connection.messages { _ = message } }
        let servers = Running([server.service(host: "127.0.0.1", port: 0, onListening: self.report)])
        let connection = try await FramedClient.connect(host: "127.0.0.1", port: await self.port())
        try await servers.stop()
        #expect(await connection.waitUntilClosed().initiator != .failure)
    }

    @Test func anAddressInUseEndsTheGroup() async throws {
        let first = Running([SocketIOServer().service(host: "127.0.0.1", port: 0, onListening: self.report)])
        let second = Running([SocketIOServer().service(host: "127.0.0.1", port: await self.port())])
        await #expect(throws: IOError.self) { try await second.task.value }
        try await first.stop()
    }

    @Test func aManagerWithoutAServerEndsTheGroup() async throws {
        var configuration = SocketIOManagerConfiguration()
        configuration.reconnection = .none
        let manager = SocketIOManager(url: "http://127.0.0.1:1", configuration: configuration)
        let error = await #expect(throws: SocketIOError.self) { try await manager.service().run() }
        #expect(error?.code == .transport)
    }

    @Test func aRefusedManagerEndsTheGroup() async throws {
        let server = SocketIOServer()
        server.namespace("/").use { _ in throw SocketIOConnectionRefusal(message: "no") }
        let servers = Running([server.service(host: "127.0.0.1", port: 0, onListening: self.report)])
        let manager = SocketIOManager(url: "http://127.0.0.1:\(await self.port())")
        let error = await #expect(throws: SocketIOError.self) { try await manager.service().run() }
        #expect(error?.code == .connectRefused)
        try await servers.stop()
    }

    @Test func aSessionClosedByItsPeerEndsTheGroup() async throws {
        let server = WebSocketServer { connection in try await connection.send("bye") }
        let servers = Running([server.service(host: "127.0.0.1", port: 0, onListening: self.report)])
        let session = WebSocketSession("ws://127.0.0.1:\(await self.port())/")
        await #expect(throws: WebSocketError.self) { try await session.service().run() }
        #expect(session.state == .closedByPeer)
        try await servers.stop()
    }
}
