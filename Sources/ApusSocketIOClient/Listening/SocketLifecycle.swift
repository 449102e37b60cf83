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
    /// The namespace was joined, under this id. See ``SocketIOClient/isRecovered``.
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
    /// ``SocketIOClient/state`` changed to this.
    case statusChange(SocketClientState)
    /// A heartbeat: the server's ping came, or to a server of Socket.IO 2.x ours went out.
    case ping
    /// The answer to a ping: ours went out, or that of a server of Socket.IO 2.x came, after this time.
    case pong(latency: Duration?)
    /// The connection changed from polling to WebSocket.
    case upgrade
    /// The connection could not change to WebSocket; polling goes on.
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

    /// The event as the data of a raw listener: the id, the reason, the message of the error, the number of the attempt, the state, seconds.
    var data: [SocketIOValue] {
        switch self {
        case .connect(let id): [.string(id)]
        case .disconnect(let reason): [.string(reason.description)]
        case .error(let error), .upgradeError(let error): [.string(error.message)]
        case .reconnectAttempt(let number): [.integer(Int64(number))]
        case .reconnect(let attempts): [.integer(Int64(attempts))]
        case .statusChange(let state): [.string("\(state)")]
        case .pong(let latency?): [.double(latency / .seconds(1))]
        case .reconnectFailed, .ping, .pong(nil), .upgrade: []
        }
    }

    /// Whether it may come any number of times without anything the user did.
    var isFrequent: Bool {
        switch self {
        case .error, .ping, .pong: true
        case .connect, .disconnect, .reconnectAttempt, .reconnect, .reconnectFailed, .statusChange, .upgrade, .upgradeError: false
        }
    }
}
