import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol

func runFeed() async throws {
    let feed = WebSocketSession(
        "wss://example.com/feed", reconnection: .exponential(from: .seconds(1), to: .seconds(60)), heartbeat: .ping(every: .seconds(30)))
    for try await message in feed.messages {
        print(message)
    }
}
