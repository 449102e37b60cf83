import ApusConnectivity
import ApusWebSocket
import ApusWebSocketProtocol
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Testing
import HTTPTypes

/// A WebSocket server mounted in a hummingbird application.
@Suite struct HummingbirdWebSocketTests {
    /// Runs an application with a page and a WebSocket server, and ends it gracefully.
    private func withApplication(_ server: WebSocketServer, _ body: (_ port: Int) async throws -> Void) async throws {
        let router = Router()
        router.get("page") { _, _ in "a page" }
        router.get("ws") { _, _ in "a page at the same path" }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router, server: .http1(configuration: .init(additionalChannelHandlers: server.channelHandlers())),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let group = ServiceGroup(services: [application], logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let running = Task { try await group.run() }
        var iterator = ports.makeAsyncIterator()
        let number = try #require(await iterator.next())
        let result: Result<Void, any Error>
        do { result = .success(try await body(number)) } catch { result = .failure(error) }
        await group.triggerGracefulShutdown()
        try await running.value
        try result.get()
    }

    private func server(_ configure: (inout WebSocketServerConfiguration) -> Void = { _ in }) -> WebSocketServer {
        var configuration = WebSocketServerConfiguration()
        configuration.path = "/ws"
        configure(&configuration)
        return WebSocketServer(configuration: configuration) { connection in
            for try await message in connection.messages { try await connection.send(message) }
        }
    }

    @Test(.timeLimit(.minutes(5))) func pagesAndWebSocketsShareAPort() async throws {
        let server = self.server { $0.subprotocols = .preferred("chat") }
        try await self.withApplication(server) { port in
            let pages = HTTPExchangeClient(
                configuration: .init(origin: HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port)),
                eventLoop: MultiThreadedEventLoopGroup.singleton.next())
            for (path, body) in [("page", "a page"), ("ws", "a page at the same path")] {
                let answer = try await pages.send(HTTPExchangeRequest(.GET, "/\(path)"), timeout: .seconds(60))
                #expect(String(buffer: answer.body) == body)
            }
            pages.finish()
            var configuration = WebSocketClientConfiguration()
            configuration.subprotocols = ["chat"]
            let connection = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/ws", configuration: configuration)
            #expect(connection.subprotocol == "chat")
            var messages = connection.messages.makeAsyncIterator()
            for size in [0, 1, 65_536, 900_000] {
                let message = WebSocketMessage.binary(ByteBuffer(repeating: 7, count: size))
                try await connection.send(message)
                #expect(try await messages.next() == message)
            }
            #expect(await connection.close().wasClean)
            let missing = await #expect(throws: WebSocketError.self) {
                try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/other")
            }
            #expect(missing?.refusal?.status == 404)
        }
        #expect(server.connectionCount == 0)
    }

    /// Returns the status with which a handshake with these fields is refused.
    private func refusal(_ port: Int, _ fields: HTTPFields) async -> Int? {
        var configuration = WebSocketClientConfiguration()
        configuration.headers = fields
        let error = await #expect(throws: WebSocketError.self) {
            try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/ws", configuration: configuration)
        }
        return error?.refusal?.status
    }

    @Test(.timeLimit(.minutes(5))) func refusalsApplyInAnApplicationToo() async throws {
        let server = self.server { $0.limits.maximumHeaderBytes = 1000 }
        try await self.withApplication(server) { port in
            let statuses = [
                await self.refusal(port, [.origin: "null"]), await self.refusal(port, [.cookie: "session=1"]),
                await self.refusal(port, [.userAgent: String(repeating: "x", count: 1000)]),
            ]
            #expect(statuses == [403, 403, 431])
        }
    }

    @Test(.timeLimit(.minutes(5))) func anApplicationThatStopsClosesItsConnections() async throws {
        var connection: WebSocketConnection?
        try await self.withApplication(self.server()) { port in
            connection = try await WebSocketClient.connect(to: "ws://127.0.0.1:\(port)/ws")
        }
        let closure = await connection?.waitUntilClosed()
        #expect(closure?.code == .goingAway)
        #expect(closure?.wasClean == true)
    }
}
