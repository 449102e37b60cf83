public import ApusConnectivity
public import ApusEngineIOProtocol
public import ApusWebSocketProtocol
public import HTTPTypes

/// The configuration of an Engine.IO client.
public struct EngineIOClientConfiguration: Sendable {
    /// The version of the protocol to request.
    public enum ProtocolVersion: Sendable, Hashable {
        /// Requests version 4 and falls back to version 3. It falls back if the server refuses
        /// version 4, or if its first response has the format of version 3: a Socket.IO 2.x server
        /// answers any requested version with its own. Over polling, the first response reveals the
        /// version. Over WebSocket, the first Socket.IO packet reveals it, and the client
        /// reconnects.
        case automatic
        /// Version 4, used by Socket.IO 3.x and 4.x servers.
        case v4
        /// Version 3, used by Socket.IO 2.x servers.
        case v3
    }

    /// The protocol version to request. Default: `automatic`.
    public var version: ProtocolVersion = .automatic

    /// The transports, in the order in which they are tried to open a session. Default: polling,
    /// then WebSocket, as in engine.io-client.
    ///
    /// A session starts on the first transport. It upgrades to another one of the list if
    /// ``upgrade`` is set, the server offers it, and the protocol permits it: from polling to
    /// WebSocket only. The order of the list does not matter for the upgrade.
    public var transports: [EngineIOTransport] = [.polling, .webSocket]

    /// Whether a session upgrades to another transport of ``transports`` when the server offers it.
    /// Default: `true`.
    public var upgrade: Bool = true

    /// Whether a session starts on the transport to which the last session upgraded. Default:
    /// `false`, as in engine.io-client.
    ///
    /// Avoids the polling requests before the upgrade. If the remembered transport no longer works,
    /// the attempt can take ``timeout`` to fail.
    public var rememberUpgrade: Bool = false

    /// Whether the next transport of ``transports`` is tried when one fails before the session is
    /// open. ``timeout`` applies to each transport. Default: `false`, as in engine.io-client.
    public var tryAllTransports: Bool = false

    /// The path of the server. Default: `/socket.io/`, as in Node's Socket.IO.
    public var path: String = "/socket.io/"

    /// Additional query parameters, which the client percent-encodes. Default: none.
    public var query: [String: String] = [:]

    /// Additional header fields of every HTTP request, the WebSocket handshake included, in order:
    /// for example `[.authorization: "Bearer …"]`.
    public var headers: HTTPFields = [:]

    /// The cookies of every request. A cookie of the same name set by the server replaces a cookie
    /// of this configuration.
    public var cookies: [String: String] = [:]

    /// Whether cookies set by the server are sent in later requests of the same manager, WebSocket
    /// handshakes included. Default: `true`.
    ///
    /// Load balancers use cookies for session affinity. The manager keeps at most 50 cookies of at
    /// most 4,096 bytes each, for its lifetime.
    public var keepsCookies: Bool = true

    /// The parts of a request that may differ between two attempts to open a session.
    public struct Attempt: Sendable, Hashable {
        /// See ``EngineIOClientConfiguration/path``.
        public var path: String
        /// See ``EngineIOClientConfiguration/query``.
        public var query: [String: String]
        /// See ``EngineIOClientConfiguration/headers``.
        public var headers: HTTPFields
    }

    /// Changes path, query and header fields before every attempt, for example to renew an expired
    /// token. Default: `nil`.
    ///
    /// The closure receives the values of this configuration. Its running time counts towards
    /// ``timeout``. A thrown `EngineIOError` fails the attempt, any other error fails it with
    /// `connectionRefused`.
    public var prepareAttempt: (@Sendable (inout Attempt) async throws -> Void)?

    /// The compression of WebSocket messages (permessage-deflate), if the server agrees. Default:
    /// messages of 1,024 bytes or more, as in engine.io-client. `nil` disables it.
    ///
    /// Compression costs up to 300 KB of memory for each connection.
    public var compression: WebSocketDeflateConfiguration? = .init()

    /// The maximum time for opening a session, and for its upgrade. Default: 20 seconds, as in
    /// engine.io-client.
    public var timeout: Duration = .seconds(20)

    /// The maximum time for each POST and its response. Default: 20 seconds. The maximum time for a
    /// poll is derived from the server's heartbeat intervals.
    public var requestTimeout: Duration = .seconds(20)

    /// The TLS settings for all transports. Default: verifies the certificate against the system's
    /// roots, and the host name.
    public var tls: TLSSettings = .system

    /// The proxy to connect through. Default: none; `ProxySettings.environment` uses the
    /// environment variables.
    public var proxy: ProxySettings = .none

    /// The local address to connect from. Default: `nil`, the system's choice.
    public var localAddress: String?

    /// A Unix socket to connect to in place of the URL's host and port. Default: `nil`.
    ///
    /// The URL still determines the host name in requests and whether TLS is used.
    public var unixSocketPath: String?

    /// The maximum size of a message or polling body from the server. Unit: bytes. Default: 16 MiB.
    public var maximumMessageBytes: Int = 16 << 20

    /// The maximum size of the outgoing queue. Unit: bytes. Default: 16 MiB. An emit that would
    /// exceed it fails.
    public var maximumQueuedBytes: Int = 16 << 20

    /// Creates a configuration with default values.
    public init() {}

    /// Checks the configuration, except the transports and the path, which an attempt checks.
    func validate() throws(EngineIOError) {
        func refuse(_ message: String) -> EngineIOError { EngineIOError(.invalidConfiguration, message: message) }
        for (name, time) in [("timeout", self.timeout), ("requestTimeout", self.requestTimeout)] where time <= .zero {
            throw refuse("`\(name)` must be greater than 0, not \(time)")
        }
        let sizes = [("maximumMessageBytes", self.maximumMessageBytes), ("maximumQueuedBytes", self.maximumQueuedBytes)]
        for (name, size) in sizes where size <= 0 { throw refuse("`\(name)` must be greater than 0, not \(size)") }
        do throws(WebSocketError) { try self.compression?.validate() } catch {
            throw EngineIOError(.invalidConfiguration, message: error.message, cause: error)
        }
    }

    /// The values that `prepareAttempt` receives.
    var attempt: Attempt { Attempt(path: self.path, query: self.query, headers: self.headers) }

    /// The Unix socket to connect to, if one is configured.
    var target: Dialer.Target? { self.unixSocketPath.map { .unixSocket(path: $0) } }

    /// The dialer for connections to the server.
    var dialer: Dialer {
        var dialer = Dialer(tls: self.tls, proxy: self.proxy)
        dialer.localAddress = self.localAddress
        dialer.connectTimeout = self.timeout
        dialer.tlsTimeout = self.timeout
        dialer.timeoutSetting = "timeout"
        return dialer
    }
}
