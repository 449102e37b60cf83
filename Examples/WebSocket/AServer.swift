// The code of the page "A server". `scripts/check-snippets` compares the two.
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes

func echo() async throws {
    let server = WebSocketServer { connection in
        for try await message in connection.messages {
            try await connection.send(message)
        }
    }
    try await server.run(host: "127.0.0.1", port: 8080)
}

func echoOnTheEventLoop() async throws {
    let server = WebSocketServer(onOpen: { connection in
        connection.onMessage { connection, message in
            connection.post(message)
        }
        connection.onClose { closure in
            print(closure)
        }
    })
    try await server.run(host: "127.0.0.1", port: 8080)
}

func guarded(isValid: @escaping @Sendable (_ token: String) async throws -> Bool) -> WebSocketServer {
    var configuration = WebSocketServerConfiguration()
    configuration.path = "/feed"
    configuration.subprotocols = .preferred("feed.v2", "feed.v1")
    configuration.origins = .list(["https://app.example.com"])
    configuration.shouldUpgrade = { request in
        guard let token = request.headerFields[.authorization], try await isValid(token) else {
            throw WebSocketUpgradeRefusal.unauthorized()
        }
    }
    return WebSocketServer(configuration: configuration) { connection in
        try await connection.send(.text("You speak \(connection.subprotocol ?? "nothing we know")"))
    }
}

func ticker(prices: AsyncStream<String>) async throws {
    var configuration = WebSocketServerConfiguration()
    configuration.flow.postedBytes = 1 << 20
    configuration.flow.overflow = .drop
    let server = WebSocketServer(configuration: configuration, onOpen: { _ in })
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await server.run(host: "127.0.0.1", port: 8080) }
        for await price in prices {
            server.broadcast(.text(price))
        }
        group.cancelAll()
        try await group.waitForAll()
    }
}
