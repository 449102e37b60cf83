/// A transport for the packets of a session.
public enum EngineIOTransport: String, Sendable, Hashable, CaseIterable {
    /// HTTP long-polling.
    case polling
    /// One WebSocket.
    case webSocket = "websocket"
}
