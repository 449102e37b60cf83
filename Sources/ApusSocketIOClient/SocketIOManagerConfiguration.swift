public import ApusConnectivity
public import ApusEngineIOClient
public import ApusEngineIOProtocol
public import HTTPTypes
public import ApusEventLoop
public import ApusJSON
public import ApusSocketIOProtocol

/// The auth that a client sends when it joins a namespace.
public struct SocketIOClientAuthentication: Sendable, ExpressibleByDictionaryLiteral {
    enum Source: Sendable {
        case none
        case value(SocketIOValue)
        case closure(@Sendable () async throws -> SocketIOValue)
    }

    let source: Source

    /// No auth.
    public static let none = Self(source: .none)

    /// The same object for each join.
    public static func value(_ value: SocketIOValue) -> Self { Self(source: .value(value)) }

    /// A closure called for each attempt to join, which can renew a token. An error counts as a
    /// failed attempt.
    public static func closure(_ closure: @escaping @Sendable () async throws -> SocketIOValue) -> Self { Self(source: .closure(closure)) }

    /// Creates an auth with the same object for each join.
    public init(dictionaryLiteral elements: (String, SocketIOValue)...) {
        self.source = .value(.object(.init(elements.map { (key: $0.0, value: $0.1) })))
    }

    private init(source: Source) {
        self.source = source
    }
}

/// The treatment of an event that exceeds the buffer of a disconnected socket.
public enum SocketIOClientBufferOverflow: Sendable, Hashable {
    /// The event fails with `SocketIOError.Code.bufferFull`, reported to the caller that awaits
    /// the ack or else to the lifecycle listeners.
    case fail
    /// The oldest event is dropped and fails in the same way. Suits values that soon become
    /// outdated.
    case dropOldest
}

/// The configuration of a ``SocketIOManager``: its connection, its reconnection and its limits.
public struct SocketIOManagerConfiguration: Sendable {
    /// The Engine.IO connection: transports, path, query, headers, timeout, TLS and size limits.
    public var engine: EngineIOClientConfiguration

    /// The auth of all namespaces, except those with their own. Default: none.
    public var auth: SocketIOClientAuthentication

    /// The reconnection policy. Default: that of Node's Socket.IO client, 1 s doubling to 5 s, with
    /// a jitter of 0.5 and no limit of attempts.
    public var reconnection: ReconnectionPolicy

    /// The time to wait for an ack, for calls without a timeout of their own. Default: 20 seconds.
    /// See ``SocketIOClientEmitting/emitWithAck(_:arguments:timeout:)`` for its start and end.
    public var ackTimeout: Duration = .seconds(20)

    /// Whether attempts wait while the server is unreachable from this machine, and start as soon
    /// as a network is available. Default: `true`.
    ///
    /// An open connection survives a short interruption; its heartbeat detects whether it is dead.
    public var watchesNetwork: Bool = true

    /// The monitor of network changes. Tests replace it.
    var networkMonitor = NetworkPathMonitor.shared

    /// Returns the network that a manager observes; `nil` for a Unix socket.
    func network(for host: String) -> Reconnector.Network? {
        self.watchesNetwork && self.engine.unixSocketPath == nil ? Reconnector.Network(self.networkMonitor, host: host) : nil
    }

    /// The number of times an event is sent again if its ack does not arrive within ``ackTimeout``,
    /// or if the connection is lost before it. Default: 0, each event is sent once.
    ///
    /// Above 0 every event except a volatile one requests an ack, including events sent with
    /// ``SocketIOClientEmitting/emit(_:arguments:)``, and the server must send it: python-socketio
    /// does so automatically, Node's Socket.IO when the handler calls its callback. Events are sent
    /// one at a time, each after the previous one was acknowledged or failed. The others wait, up
    /// to ``maximumBufferedEvents`` and ``maximumBufferedBytes``.
    ///
    /// Delivery is at least once: an event whose ack was lost arrives twice, so give each event an
    /// id. An event that was sent the maximum number of times fails with `ackTimeout` or
    /// `disconnected`.
    public var retries: Int = 0

    /// The context of listeners and callbacks. Default: the connection's event loop, where they
    /// must not block.
    public var callbacks: SocketIOClientCallbackContext = .eventLoop

    /// The maximum number of events that wait for ``callbacks``, unless that is the event loop.
    /// Default: 10,000. A further event is dropped and reported as `.error`.
    public var maximumPendingCallbacks: Int = 10_000

    /// The maximum number of bytes of the events that wait for ``callbacks``, as received. Default:
    /// 64 MiB.
    public var maximumPendingCallbackBytes: Int = 64 << 20

    /// The maximum number of events buffered per namespace while disconnected. Default: 1,000. See
    /// ``bufferOverflow`` for further events.
    public var maximumBufferedEvents: Int = 1000

    /// The maximum number of bytes of the events buffered per namespace while disconnected.
    /// Default: 4 MiB.
    public var maximumBufferedBytes: Int = 4 << 20

    /// The treatment of events that exceed ``maximumBufferedEvents`` or ``maximumBufferedBytes``.
    /// Default: they fail. Events that are retried (``retries``) always fail.
    public var bufferOverflow: SocketIOClientBufferOverflow = .fail

    /// The maximum number of events accepted before the server's answer to CONNECT, such as the
    /// missed events of a recovery. Default: 10,000. Further events close the connection.
    public var maximumEarlyEvents: Int = 10_000

    /// The maximum number of bytes of the events accepted before the server's answer to CONNECT, as
    /// received. Default: 16 MiB.
    public var maximumEarlyBytes: Int = 16 << 20

    /// The maximum number of pending acks per namespace. Default: 10,000.
    public var maximumPendingAcks: Int = 10_000

    /// The maximum number of attachments of a packet from the server. Default: 64. The default of a
    /// server is lower, because clients are less trusted.
    public var maximumAttachments: Int = 64

    /// The maximum time for all attachments of a packet, after which the client reconnects.
    /// Default: 60 seconds.
    public var attachmentsTimeout: Duration = .seconds(60)

    /// The encoding of packets, which must match that of the server. Default: JSON.
    public var parser: SocketIOParser = .json

    /// Creates a configuration. The properties describe the parameters and their defaults.
    public init(
        transports: [EngineIOTransport] = [.polling, .webSocket],
        version: EngineIOClientConfiguration.ProtocolVersion = .automatic,
        path: String = "/socket.io/",
        query: [String: String] = [:],
        headers: HTTPFields = [:],
        auth: SocketIOClientAuthentication = .none,
        reconnection: ReconnectionPolicy = .socketIO,
        timeout: Duration = .seconds(20),
        tls: TLSSettings = .system
    ) {
        var engine = EngineIOClientConfiguration()
        engine.transports = transports
        engine.version = version
        engine.path = path
        engine.query = query
        engine.headers = headers
        engine.timeout = timeout
        engine.tls = tls
        self.engine = engine
        self.auth = auth
        self.reconnection = reconnection
    }

    /// Creates a configuration with an auth closure that is called for each attempt to join.
    public init(
        transports: [EngineIOTransport] = [.polling, .webSocket],
        version: EngineIOClientConfiguration.ProtocolVersion = .automatic,
        path: String = "/socket.io/",
        query: [String: String] = [:],
        headers: HTTPFields = [:],
        reconnection: ReconnectionPolicy = .socketIO,
        timeout: Duration = .seconds(20),
        tls: TLSSettings = .system,
        auth: @escaping @Sendable () async throws -> SocketIOValue
    ) {
        self.init(
            transports: transports, version: version, path: path, query: query, headers: headers, auth: .closure(auth),
            reconnection: reconnection, timeout: timeout, tls: tls)
    }
}
