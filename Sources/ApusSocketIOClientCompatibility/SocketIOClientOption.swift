public import Dispatch

/// An option of ``SocketManager``, with the names of socket.io-client-swift.
///
/// Most options that are missing here concern URLSession and Starscream. Their equivalents, if any,
/// are settings of `SocketIOManagerConfiguration`.
public enum SocketIOClientOption: Sendable {
    /// Has no effect: messages over a WebSocket are always compressed if the server agrees.
    case compress
    /// Query parameters of the connection.
    case connectParams([String: String])
    /// Header fields of every HTTP request.
    case extraHeaders([String: String])
    /// Whether only long-polling is used.
    case forcePolling(Bool)
    /// Whether only WebSocket is used.
    case forceWebsockets(Bool)
    /// The queue of the listeners. Default: the main queue.
    case handleQueue(DispatchQueue)
    /// Whether debug messages are logged.
    case log(Bool)
    /// The path of the server. Default: `/socket.io/`.
    case path(String)
    /// The part of a reconnection delay that is random, from 0 to 1. Default: 0.5.
    case randomizationFactor(Double)
    /// The maximum number of reconnection attempts; -1 for no limit. Default: -1.
    case reconnectAttempts(Int)
    /// Whether the client reconnects. Default: `true`.
    case reconnects(Bool)
    /// The first reconnection delay in seconds. Default: 10.
    case reconnectWait(Int)
    /// The maximum reconnection delay in seconds. Default: 30.
    case reconnectWaitMax(Int)
    /// Whether TLS is used even if the URL begins with `http` or `ws`.
    case secure(Bool)
    /// Whether the certificate of the server is not verified. Any party on the network path
    /// can then read and change the messages.
    case selfSigned(Bool)
    /// The version of the server's protocol. Default: detected automatically.
    case version(SocketIOVersion)
}

/// A version of the Socket.IO protocol, with the names of socket.io-client-swift.
public enum SocketIOVersion: Sendable, Hashable {
    /// Servers of Socket.IO 2.x.
    case two
    /// Servers of Socket.IO 3.x and 4.x.
    case three
}
