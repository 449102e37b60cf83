import ApusEngineIOProtocol

/// Why a socket left its namespace. The descriptions are the reference server's words.
///
/// Two reasons are equal when they are of one kind, whatever their ``detail``.
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
    /// What was seen, for a log: the fault in a packet, the bound that was passed. `nil` where the kind says it all.
    public private(set) var detail: String?

    private init(value: Value) { self.value = value }

    /// The client's connection closed.
    public static let transportClose = Self(value: .transportClose)
    /// The client's connection failed, or the client stopped reading.
    public static let transportError = Self(value: .transportError)
    /// The client did not answer a ping.
    public static let pingTimeout = Self(value: .pingTimeout)
    /// The client sent what no packet can be.
    public static let parseError = Self(value: .parseError)
    /// The server ended the connection: `disconnect(close: true)`, or handlers that fell too far behind.
    public static let forcedServerClose = Self(value: .forcedServerClose)
    /// The server is going away.
    public static let serverShuttingDown = Self(value: .serverShuttingDown)
    /// The client left this namespace.
    public static let clientNamespaceDisconnect = Self(value: .clientNamespaceDisconnect)
    /// `disconnect()` was called.
    public static let serverNamespaceDisconnect = Self(value: .serverNamespaceDisconnect)

    /// The kind in words.
    public var description: String { self.value.rawValue }

    /// Compares the kind, not the detail.
    public static func == (left: Self, right: Self) -> Bool { left.value == right.value }

    /// Hashes the kind.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.value) }
}

extension SocketIODisconnectReason {
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

    /// Whether the client may not know that it is gone, and will want to go on where it was.
    ///
    /// Not `serverShuttingDown`: this process takes nobody back. Not `parseError`: it would come back to the same fault.
    var isRecoverable: Bool {
        switch self.value {
        case .transportClose, .transportError, .pingTimeout: true
        case .parseError, .forcedServerClose, .serverShuttingDown, .clientNamespaceDisconnect, .serverNamespaceDisconnect: false
        }
    }
}
