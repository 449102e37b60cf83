import ApusEngineIOProtocol
import ApusJSON
public import ApusSocketIOProtocol

/// The connection state of a socket.
public enum SocketIOClientState: Sendable, Hashable {
    /// Not connected, and no attempt to connect is in progress.
    case disconnected
    /// Connecting for the first time.
    case connecting
    /// The namespace was joined.
    case connected
    /// Reconnecting after the connection was lost.
    case reconnecting
}

/// The reason of a disconnection.
///
/// Source: the reasons of Node's Socket.IO client. Reasons compare by their text.
public struct SocketIOClientDisconnectReason: Sendable, Hashable, CustomStringConvertible {
    /// The text of the reason, the same as in Node's Socket.IO client.
    public let description: String

    /// The server disconnected the namespace. The socket does not reconnect.
    public static let serverDisconnect = Self(description: "io server disconnect")
    /// ``SocketIOClient/disconnect()`` was called. The socket does not reconnect.
    public static let clientDisconnect = Self(description: "io client disconnect")
    /// No heartbeat of the server arrived in time.
    public static let pingTimeout = Self(description: "ping timeout")
    /// The connection was closed normally.
    public static let transportClose = Self(description: "transport close")
    /// The connection failed.
    public static let transportError = Self(description: "transport error")
    /// The server violated the protocol.
    public static let parseError = Self(description: "parse error")

    /// Whether the client reconnects after this reason.
    public var permitsReconnect: Bool { self != .serverDisconnect && self != .clientDisconnect }

    private init(description: String) {
        self.description = description
    }

    /// Creates the reason for the end of the Engine.IO session.
    init(_ error: EngineIOError) {
        switch error.code {
        case .heartbeatTimeout: self = .pingTimeout
        case .closed: self = .transportClose
        case .malformedPacket, .malformedPayload, .tooManyPackets: self = .parseError
        default: self = .transportError
        }
    }
}

/// An event that concerns a socket's connection, as opposed to an event of the application.
public enum SocketIOClientLifecycleEvent: Sendable {
    /// The namespace was joined with this id. See ``SocketIOClient/isRecovered``.
    case connect(id: String)
    /// The connection was lost, or the namespace was left.
    case disconnect(SocketIOClientDisconnectReason)
    /// A connection attempt failed, the server refused the namespace, or an event was dropped,
    /// could not be sent or decoded, or was not acknowledged after the last retry.
    case error(SocketIOError)
    /// The reconnection attempt with this number starts.
    case reconnectAttempt(Int)
    /// The namespace was joined again after this number of attempts. This event follows `connect`.
    case reconnect(attempts: Int)
    /// The reconnection policy permits no further attempt. The socket remains disconnected until
    /// the next ``SocketIOClient/open()`` or ``SocketIOClient/connect(timeout:)``.
    case reconnectFailed
    /// ``SocketIOClient/state`` changed.
    case statusChange(SocketIOClientState)
    /// A heartbeat started: the server's ping arrived, or the client's ping was sent to a server of
    /// Socket.IO 2.x.
    case ping
    /// A heartbeat ended: the client's pong was sent, or the pong of a server of Socket.IO 2.x
    /// arrived. `latency` is the measured round-trip time; `nil` if it is not known.
    case pong(latency: Duration?)
    /// The transport was upgraded from polling to WebSocket.
    case upgrade
    /// The upgrade to WebSocket failed. Polling continues.
    case upgradeError(SocketIOError)

    /// The kind of a lifecycle event, for ``SocketIOClient/on(clientEvent:handler:)``.
    public enum Kind: Sendable, Hashable, CaseIterable {
        case connect, disconnect, error, reconnectAttempt, reconnect, reconnectFailed, statusChange, ping, pong, upgrade, upgradeError
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
        case .statusChange: .statusChange
        case .ping: .ping
        case .pong: .pong
        case .upgrade: .upgrade
        case .upgradeError: .upgradeError
        }
    }

    /// Whether the event can occur any number of times without an action of the application.
    var isFrequent: Bool {
        switch self {
        case .error, .ping, .pong: true
        case .connect, .disconnect, .reconnectAttempt, .reconnect, .reconnectFailed, .statusChange, .upgrade, .upgradeError: false
        }
    }
}
