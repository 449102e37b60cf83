public import ApusConnectivity

/// How a client connects to an Engine.IO server.
public struct EngineIOClientConfiguration: Sendable {
    /// A way of carrying packets.
    public enum Transport: String, Sendable, Hashable, CaseIterable {
        /// HTTP requests, of which one waits at the server.
        case polling
        /// One WebSocket.
        case websocket
    }

    /// A revision of the protocol.
    public enum ProtocolVersion: Sendable, Hashable {
        /// Asks for version 4, and speaks version 3 when the server refuses that or when its first answer to a poll is of that form, as Socket.IO 2.x
        /// servers give it. A server of 2.x that takes any version for its own cannot be told from others when the session begins on
        /// WebSocket: say `v3` then.
        case automatic
        /// Version 4, of Socket.IO 3.x and 4.x servers.
        case v4
        /// Version 3, of Socket.IO 2.x servers.
        case v3
    }

    /// The revision of the protocol. Default: `automatic`.
    public var version: ProtocolVersion = .automatic

    /// The transports, the first tried first. Default: polling, then WebSocket, as the reference client.
    ///
    /// With `[.polling, .websocket]` a session begins on polling and changes to WebSocket when the server offers it. One alone is
    /// used alone. WebSocket first stays on WebSocket.
    public var transports: [Transport] = [.polling, .websocket]

    /// The path of the server. Default: `/socket.io/`, as the reference server.
    public var path: String = "/socket.io/"

    /// Further members of the query, percent-encoded for you.
    public var query: [String: String] = [:]

    /// Further fields of every HTTP request, the WebSocket's handshake included (a cookie, an Authorization).
    public var headers: [String: String] = [:]

    /// Time until the session stands, and for each POST. Default: 20 seconds, as the reference client.
    public var timeout: Duration = .seconds(20)

    /// How the server's certificate is judged, for both transports. Default: the system's roots and the host's name.
    public var tls: TLSSettings = .system

    /// The proxy to connect through. Default: none; `ProxySettings.environment` does what the environment says.
    public var proxy: ProxySettings = .none

    /// The address of this machine to connect from. Default: `nil`, the system's choice.
    public var localAddress: String?

    /// A Unix socket to connect to in place of the URL's host and port. Default: `nil`.
    ///
    /// The URL still says what stands in the requests and whether TLS is spoken.
    public var unixSocketPath: String?

    /// The largest message or polling body taken from the server. Unit: bytes. Default: 16 MiB.
    public var maximumMessageBytes: Int = 16 << 20

    /// What may wait for a slow server. Unit: bytes. Default: 16 MiB. Above it an emit fails.
    public var maximumQueuedBytes: Int = 16 << 20

    /// The defaults.
    public init() {}

    /// The way to the server.
    var dialer: Dialer {
        var dialer = Dialer(tls: self.tls, proxy: self.proxy)
        dialer.localAddress = self.localAddress
        dialer.connectTimeout = self.timeout
        dialer.tlsTimeout = self.timeout
        return dialer
    }
}
