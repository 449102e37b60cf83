import ApusEngineIOProtocol
public import ApusSocketIOProtocol

/// Where a socket stands.
public enum SocketClientState: Sendable, Hashable {
    /// Not connected, and nothing is being done about it.
    case disconnected
    /// On its way for the first time.
    case connecting
    /// The namespace is joined.
    case connected
    /// The connection was lost and is being made again.
    case reconnecting
}

/// Why a socket is no longer connected.
///
/// Source: the reference client's reasons. Equal by the text.
public struct SocketDisconnectReason: Sendable, Hashable, CustomStringConvertible {
    /// The text, as the reference client has it.
    public let description: String

    /// The server left the namespace. The socket does not come back by itself.
    public static let serverDisconnect = Self(description: "io server disconnect")
    /// ``SocketIOClient/disconnect()`` was called. The socket does not come back by itself.
    public static let clientDisconnect = Self(description: "io client disconnect")
    /// The server was silent for too long.
    public static let pingTimeout = Self(description: "ping timeout")
    /// The connection was closed in order.
    public static let transportClose = Self(description: "transport close")
    /// The connection failed.
    public static let transportError = Self(description: "transport error")
    /// The server broke the protocol.
    public static let parseError = Self(description: "parse error")

    /// Whether the client connects again by itself.
    public var permitsReconnect: Bool { self != .serverDisconnect && self != .clientDisconnect }

    private init(description: String) {
        self.description = description
    }

    /// What the end of the Engine.IO session means for its sockets.
    init(_ error: EngineIOError) {
        switch error.code {
        case .heartbeatTimeout: self = .pingTimeout
        case .closed: self = .transportClose
        case .malformedPacket, .malformedPayload, .tooManyPackets: self = .parseError
        default: self = .transportError
        }
    }
}

/// What happens to a socket's connection, apart from the events of the application.
public enum SocketLifecycleEvent: Sendable {
    /// The namespace was joined, under this id.
    case connect(id: String)
    /// The namespace was left.
    case disconnect(SocketDisconnectReason)
    /// An attempt failed, the server refused, an event could not be sent or did not fit its handler.
    case error(SocketIOError)
    /// Attempt number such to connect again begins.
    case reconnectAttempt(Int)
    /// The namespace is joined again, after so many attempts. Follows `connect`.
    case reconnect(attempts: Int)
    /// The policy gave up. The socket is disconnected until the next ``SocketIOClient/connect(timeout:)``.
    case reconnectFailed

    /// The kind of a lifecycle event, for ``SocketIOClient/on(clientEvent:handler:)``.
    public enum Kind: Sendable, Hashable, CaseIterable {
        case connect, disconnect, error, reconnectAttempt, reconnect, reconnectFailed
    }

    /// The kind of this event.
    public var kind: Kind {
        switch self {
        case .connect: .connect
        case .disconnect: .disconnect
        case .error: .error
        case .reconnectAttempt: .reconnectAttempt
        case .reconnect: .reconnect
        case .reconnectFailed: .reconnectFailed
        }
    }
}
