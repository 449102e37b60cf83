// The code of the page "A connection that stays up". `scripts/check-snippets` compares the two.
import ApusConnectivity
import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes

func read() async throws {
    let feed = WebSocketSession(
        "wss://example.com/feed", reconnection: .exponential(from: .seconds(1), to: .seconds(60)), heartbeat: .ping(every: .seconds(30)))
    for try await message in feed.messages {
        print(message)
    }
}

func loggedIn(token: @escaping @Sendable () async throws -> String) -> WebSocketSession {
    var configuration = WebSocketSessionConfiguration()
    configuration.client.requestHeaders = { _ in [.authorization: "Bearer \(try await token())"] }
    configuration.onOpen = { connection in
        try await connection.send(#"{"subscribe":"prices"}"#)
    }
    return WebSocketSession("wss://example.com/feed", configuration: configuration)
}

func report(positions: AsyncStream<String>) async throws {
    var configuration = WebSocketSessionConfiguration()
    configuration.queue = WebSocketSendQueue(maximumMessages: 1, overflow: .dropOldest)  // only the newest position counts
    let session = WebSocketSession("wss://example.com/positions", configuration: configuration)
    for await position in positions {
        try await session.send(.text(position))
    }
    await session.close()
}

final class Feed: Sendable {
    private let session = WebSocketSession("wss://example.com/feed", reconnection: .fixed(.seconds(1), maximumAttempts: 5))

    func start() {
        self.session.listen(on: .main) { event in
            switch event {
            case .opened(let subprotocol): print("open", subprotocol ?? "")
            case .message(let message): print(message)
            case .pong(_, let roundTrip): print("pong after", roundTrip ?? .zero)
            case .failure(let error, let willRetry): print("no connection:", error, willRetry)
            case .closed(let closure, let willRetry): print(closure.code, closure.reason, closure.wasClean, willRetry)
            }
        }
    }
}

func pinned(to fingerprint: CertificateFingerprint) -> WebSocketSession {
    var client = WebSocketClientConfiguration()
    client.tls = .pinned(fingerprint)
    return WebSocketSession("wss://10.0.0.7:8443/", client: client)
}
