public import ApusConnectivity
public import ApusWebSocketProtocol

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
        /// Asks for version 4, and speaks version 3 when the server refuses that, or answers as Socket.IO 2.x servers do, which take any version
        /// for their own. Over polling its first answer tells, over WebSocket its first packet of Socket.IO; then the connection is made anew.
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

    /// Whether a session that begins on polling changes to WebSocket when the server offers it. Default: yes.
    public var upgrade: Bool = true

    /// Whether a session begins on WebSocket when the last one ended on it. Default: no, as the reference client.
    ///
    /// Saves the polling's requests, and waits for ``timeout`` where WebSocket suddenly does not work any more.
    public var rememberUpgrade: Bool = false

    /// Whether the other transports are tried when the first fails before the session stands, each for up to ``timeout``. Default: no, as
    /// the reference client.
    public var tryAllTransports: Bool = false

    /// The path of the server. Default: `/socket.io/`, as the reference server.
    public var path: String = "/socket.io/"

    /// Further members of the query, percent-encoded for you.
    public var query: [String: String] = [:]

    /// Further fields of every HTTP request, the WebSocket's handshake included (a cookie, an Authorization).
    public var headers: [String: String] = [:]

    /// Cookies of every request. One of the same name that the server gives takes its place.
    public var cookies: [String: String] = [:]

    /// Whether the cookies that a server gives go with later requests of the same manager, WebSocket's included. Default: yes.
    ///
    /// Load balancers keep a session at one server with them. At most 50, each of 4,096 bytes; they are forgotten with the manager.
    public var keepsCookies: Bool = true

    /// What may differ from one attempt to open a session to the next.
    public struct Attempt: Sendable, Hashable {
        /// See ``EngineIOClientConfiguration/path``.
        public var path: String
        /// See ``EngineIOClientConfiguration/query``.
        public var query: [String: String]
        /// See ``EngineIOClientConfiguration/headers``.
        public var headers: [String: String]
    }

    /// Changes path, query and fields anew for every attempt: a token that expires, for instance. Default: `nil`.
    ///
    /// It is given those of this configuration, and counts towards ``timeout``. When it throws, the attempt has failed.
    public var prepareAttempt: (@Sendable (inout Attempt) async throws -> Void)?

    /// How WebSocket messages are compressed (permessage-deflate), if the server agrees. Default: from 1,024 bytes on, as the reference client;
    /// `nil`: not at all.
    ///
    /// Where the server agrees, it costs up to 300 KB a connection.
    public var compression: WebSocketDeflateConfiguration? = .init()

    /// Time until the session stands. Default: 20 seconds, as the reference client.
    public var timeout: Duration = .seconds(20)

    /// Time for each POST, answer included. Default: 20 seconds. A poll has the time of the server's heartbeat.
    public var requestTimeout: Duration = .seconds(20)

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

    /// What an attempt begins with.
    var attempt: Attempt { Attempt(path: self.path, query: self.query, headers: self.headers) }

    /// Where to when it is not the URL's host.
    var target: Dialer.Target? { self.unixSocketPath.map { .unixSocket(path: $0) } }

    /// The way to the server.
    var dialer: Dialer {
        var dialer = Dialer(tls: self.tls, proxy: self.proxy)
        dialer.localAddress = self.localAddress
        dialer.connectTimeout = self.timeout
        dialer.tlsTimeout = self.timeout
        return dialer
    }
}
