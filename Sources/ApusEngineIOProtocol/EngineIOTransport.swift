/// A way of carrying the packets of a session.
public enum EngineIOTransport: String, Sendable, Hashable, CaseIterable {
    /// HTTP requests, of which one waits at the server.
    case polling
    /// One WebSocket.
    case webSocket = "websocket"
}
