import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import NIOCore
import Testing

/// The login of the admin page over real sockets, because verification runs in tasks. The server's
/// unit tests cover the page's events.
@Suite(.timeLimit(.minutes(5)))
struct AdminLoginTests {
    private static let seconds = Duration.seconds(60)

    private func withServer(_ body: (SocketIOServer, String) async throws -> Void) async throws {
        let server = SocketIOServer()
        server.enableAdmin(
            SocketIOAdminConfiguration(
                authentication: .basic(username: "admin", password: try SocketIOAdminPassword(hashing: "secret", logRounds: 4))))
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { found.yield($0.port ?? 0) } }
        defer { running.cancel() }
        let port = try #require(await ports.first { _ in true })
        try await body(server, "http://127.0.0.1:\(port)")
        running.cancel()
        try await running.value
    }

    private func page(_ url: String, _ auth: SocketIOValue) -> SocketIOClient {
        SocketIOManager(url: url, configuration: .init(transports: [.webSocket], auth: .value(auth), reconnection: .none))
            .socket(forNamespace: "/admin")
    }

    @Test func theCorrectPasswordOpensASessionForReconnection() async throws {
        try await self.withServer { _, url in
            let page = self.page(url, ["username": "admin", "password": "secret"])
            let sessions = page.messages("session", as: String.self, bufferingPolicy: .unbounded)
            let configurations = page.messages("config", as: SocketIOValue.self, bufferingPolicy: .unbounded)
            try await page.connect(timeout: Self.seconds)
            let session = try #require(await sessions.first { _ in true })
            #expect(session.count == 32)
            #expect(await configurations.first { _ in true }?["supportedFeatures"]?.arrayValue?.count == 9)
            let again = self.page(url, ["sessionId": .string(session)])
            try await again.connect(timeout: Self.seconds)
            again.disconnect()
            page.disconnect()
        }
    }

    @Test(
        arguments: [
            [:], ["username": "admin"], ["username": "admin", "password": "Secret"], ["username": "root", "password": "secret"],
            ["sessionId": "00000000000000000000000000000000"], ["username": 1, "password": ["secret"]],
        ] as [SocketIOValue])
    func otherCredentialsAreRefused(auth: SocketIOValue) async throws {
        try await self.withServer { server, url in
            let error = await #expect(throws: SocketIOError.self) { try await self.page(url, auth).connect(timeout: Self.seconds) }
            #expect(error?.code == .connectRefused)
            #expect(error?.message == "invalid credentials")
            #expect(server.namespace("/admin").sockets.isEmpty)
        }
    }

    /// A client that middleware refuses does not create a dynamic namespace, nor does one that
    /// disconnects during the middleware.
    @Test func aRefusedClientLeavesNoNamespaceBehind() async throws {
        try await self.withServer { server, url in
            let parent = server.namespaces { name, _ in name == "/d" }
            parent.use { _ in throw SocketIOConnectionRefusal(message: "no") }
            let client = SocketIOManager(url: url, configuration: .init(transports: [.webSocket], reconnection: .none)).socket(
                forNamespace: "/d")
            let error = await #expect(throws: SocketIOError.self) { try await client.connect(timeout: Self.seconds) }
            #expect(error?.message == "no")
            #expect(parent.children.isEmpty)
        }
    }
}
