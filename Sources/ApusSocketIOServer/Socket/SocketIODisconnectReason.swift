import ApusEngineIOProtocol

/// Why a socket left its namespace. The descriptions are the reference server's words.
public struct SocketIODisconnectReason: Hashable, Sendable, CustomStringConvertible {
    private enum Value: String {
        case transportClose = "transport close"
        case transportError = "transport error"
        case pingTimeout = "ping timeout"
        case parseError = "parse error"
        case forcedServerClose = "forced server close"
        case serverShuttingDown = "server shutting down"
        case clientNamespaceDisconnect = "client namespace disconnect"
        case serverNamespaceDisconnect = "server namespace disconnect"
    }

    private let value: Value

    /// The client's connection closed.
    public static let transportClose = Self(value: .transportClose)
    /// The client's connection failed, or the client stopped reading.
    public static let transportError = Self(value: .transportError)
    /// The client did not answer a ping.
    public static let pingTimeout = Self(value: .pingTimeout)
    /// The client sent what no packet can be.
    public static let parseError = Self(value: .parseError)
    /// `disconnect(close: true)` was called.
    public static let forcedServerClose = Self(value: .forcedServerClose)
    /// The server is going away.
    public static let serverShuttingDown = Self(value: .serverShuttingDown)
    /// The client left this namespace.
    public static let clientNamespaceDisconnect = Self(value: .clientNamespaceDisconnect)
    /// `disconnect()` was called.
    public static let serverNamespaceDisconnect = Self(value: .serverNamespaceDisconnect)

    /// The same in words.
    public var description: String { self.value.rawValue }
}

extension SocketIODisconnectReason {
    init(_ reason: EngineIOCloseReason) {
        self =
            switch reason {
            case .transportClose: .transportClose
            case .transportError: .transportError
            case .pingTimeout: .pingTimeout
            case .parseError: .parseError
            case .forcedClose: .forcedServerClose
            case .serverShuttingDown: .serverShuttingDown
            }
    }
}
