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

    /// A closure called for each attempt to join. It can renew a token. An error that it throws
    /// counts as a failed attempt.
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
    /// The event fails with `SocketIOError.Code.bufferFull`. The error is reported to the caller
    /// that awaits the ack, or to the lifecycle listeners if no caller does.
    case fail
    /// The oldest buffered event is dropped and fails with `SocketIOError.Code.bufferFull`.
    /// Suitable for values that soon become outdated.
    case dropOldest
}

/// The configuration of a ``SocketIOManager``: its connection, its reconnection and its limits.
public struct SocketIOManagerConfiguration: Sendable {
    /// The Engine.IO connection: transports, path, query, headers, timeout, TLS and size limits.
    public var engine: EngineIOClientConfiguration

    /// The auth of all namespaces for which no other auth was specified. Default: none.
    public var auth: SocketIOClientAuthentication

    /// The reconnection policy. Default, as in Node's Socket.IO client: delays from 1 s, doubled up
    /// to 5 s, with a jitter of 0.5 and no limit on the number of attempts.
    public var reconnection: ReconnectionPolicy

    /// The time to wait for an ack, for calls that specify no timeout. Default: 20 seconds. See
    /// ``SocketIOClientEmitting/emitWithAck(_:arguments:timeout:)`` for when the time starts.
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
    /// or if the connection is lost before the ack. Default: 0, each event is sent once.
    ///
    /// Above 0, every event except a volatile one requests an ack, including events sent with
    /// ``SocketIOClientEmitting/emit(_:arguments:)``. The server must send the ack: python-socketio
    /// does so automatically, Node's Socket.IO when the handler calls its callback. Events are sent
    /// one at a time, each after the previous one was acknowledged or failed. Further events wait,
    /// up to ``maximumBufferedEvents`` and ``maximumBufferedBytes``.
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

    /// The maximum total size of the events that wait for ``callbacks``, in bytes as received.
    /// Default: 64 MiB.
    public var maximumPendingCallbackBytes: Int = 64 << 20

    /// The maximum number of events buffered per namespace while disconnected. Default: 1,000. See
    /// ``bufferOverflow`` for further events.
    public var maximumBufferedEvents: Int = 1000

    /// The maximum number of bytes of the events buffered per namespace while disconnected.
    /// Default: 4 MiB.
    public var maximumBufferedBytes: Int = 4 << 20

    /// The treatment of events that exceed ``maximumBufferedEvents`` or ``maximumBufferedBytes``.
    /// Default: they fail. With ``retries``, they fail regardless of this setting.
    public var bufferOverflow: SocketIOClientBufferOverflow = .fail

    /// The maximum number of events accepted before the server's answer to CONNECT, such as the
    /// missed events of a recovery. Default: 10,000. Further events close the connection.
    public var maximumEarlyEvents: Int = 10_000

    /// The maximum total size of the events accepted before the server's answer to CONNECT, in
    /// bytes as received. Default: 16 MiB.
    public var maximumEarlyBytes: Int = 16 << 20

    /// The maximum number of pending acks per namespace. Default: 10,000.
    public var maximumPendingAcks: Int = 10_000

    /// The maximum number of attachments of a packet from the server. Default: 64. The default of
    /// the server is lower, because it trusts its clients less.
    public var maximumAttachments: Int = 64

    /// The maximum time for all attachments of a packet, after which the client reconnects.
    /// Default: 60 seconds.
    public var attachmentsTimeout: Duration = .seconds(60)

    /// The encoding of packets, which must match the server's. Default: JSON.
    public var parser: SocketIOParser = .json

    /// Checks the configuration, except the part of ``engine``.
    func validate() throws(SocketIOError) {
        func invalid(_ message: String) -> SocketIOError { SocketIOError(.invalidUse, message: message) }
        for (name, time) in [("ackTimeout", self.ackTimeout), ("attachmentsTimeout", self.attachmentsTimeout)] where time <= .zero {
            throw invalid("`\(name)` must be greater than 0, not \(time)")
        }
        let counts = [
            ("retries", self.retries), ("maximumPendingCallbacks", self.maximumPendingCallbacks),
            ("maximumPendingCallbackBytes", self.maximumPendingCallbackBytes), ("maximumBufferedEvents", self.maximumBufferedEvents),
            ("maximumBufferedBytes", self.maximumBufferedBytes), ("maximumEarlyEvents", self.maximumEarlyEvents),
            ("maximumEarlyBytes", self.maximumEarlyBytes), ("maximumPendingAcks", self.maximumPendingAcks),
            ("maximumAttachments", self.maximumAttachments),
        ]
        for (name, count) in counts where count < 0 { throw invalid("`\(name)` must not be negative, but is \(count)") }
    }

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
