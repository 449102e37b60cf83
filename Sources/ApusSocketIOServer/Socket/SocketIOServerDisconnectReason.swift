import ApusEngineIOProtocol

/// The reason why a socket left its namespace. The descriptions are the same as in socket.io for
/// Node.
///
/// Two reasons are equal when they are of the same kind, regardless of their ``detail``.
public struct SocketIOServerDisconnectReason: Hashable, Sendable, CustomStringConvertible {
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
    /// The details for a log, such as the error in a packet or the exceeded limit; `nil` when there
    /// are none.
    public private(set) var detail: String?

    private init(value: Value) { self.value = value }

    /// The client's connection closed.
    public static let transportClose = Self(value: .transportClose)
    /// The client's connection failed, or the client stopped reading.
    public static let transportError = Self(value: .transportError)
    /// The client did not answer a ping.
    public static let pingTimeout = Self(value: .pingTimeout)
    /// The client sent a malformed packet, or did not send the attachments of a packet in time.
    public static let parseError = Self(value: .parseError)
    /// The server closed the connection, with `disconnect(close: true)` or because too many events
    /// waited for handlers.
    public static let forcedServerClose = Self(value: .forcedServerClose)
    /// The server is shutting down.
    public static let serverShuttingDown = Self(value: .serverShuttingDown)
    /// The client left this namespace.
    public static let clientNamespaceDisconnect = Self(value: .clientNamespaceDisconnect)
    /// The server disconnected the socket from this namespace.
    public static let serverNamespaceDisconnect = Self(value: .serverNamespaceDisconnect)

    /// The text of the kind.
    public var description: String { self.value.rawValue }

    /// Compares the kind, not the detail.
    public static func == (left: Self, right: Self) -> Bool { left.value == right.value }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

extension SocketIOServerDisconnectReason {
    init(_ reason: EngineIOCloseReason, detail: String? = nil) {
        self =
            switch reason {
            case .transportClose: .transportClose
            case .transportError: .transportError
            case .pingTimeout: .pingTimeout
            case .parseError: .parseError
            case .forcedClose: .forcedServerClose
            case .serverShuttingDown: .serverShuttingDown
            }
        self.detail = detail
    }

    /// Whether the session is stored for recovery, because the client did not close the connection
    /// intentionally.
    ///
    /// `serverShuttingDown` is not recoverable, because this process accepts no more clients.
    /// `parseError` is not recoverable, because the client would repeat the error.
    var isRecoverable: Bool {
        switch self.value {
        case .transportClose, .transportError, .pingTimeout: true
        case .parseError, .forcedServerClose, .serverShuttingDown, .clientNamespaceDisconnect, .serverNamespaceDisconnect: false
        }
    }
}
