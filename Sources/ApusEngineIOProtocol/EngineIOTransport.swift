/// A transport for the packets of a session.
///
/// Most code that depends on the transport switches over the cases, without `default`, so that the
/// compiler reports each place that a further case affects. `Transports.md` of `ApusEngineIOServer`
/// lists the other places.
public enum EngineIOTransport: String, Sendable, Hashable, CaseIterable {
    /// HTTP long-polling.
    case polling
    /// One WebSocket.
    case webSocket = "websocket"

    /// The transports to which a session that began on this one can upgrade, in order of
    /// preference.
    package var upgrades: [EngineIOTransport] {
        switch self {
        case .polling: [.webSocket]
        case .webSocket: []
        }
    }

    /// Whether a session can upgrade to this transport.
    package var isUpgrade: Bool {
        switch self {
        case .polling: false
        case .webSocket: true
        }
    }
}
