public import ApusConnectivity
public import ApusEngineIOClient
public import ApusJSON
public import ApusSocketIOProtocol

/// What a client shows the server when it joins a namespace.
public struct SocketAuthentication: Sendable, ExpressibleByDictionaryLiteral {
    enum Source: Sendable {
        case none
        case value(SocketIOValue)
        case closure(@Sendable () async throws -> SocketIOValue)
    }

    let source: Source

    /// Nothing.
    public static let none = Self(source: .none)

    /// The same object every time.
    public static func value(_ value: SocketIOValue) -> Self { Self(source: .value(value)) }

    /// Asked at every attempt to join, so that a token can be renewed. An error counts as a failed attempt.
    public static func closure(_ closure: @escaping @Sendable () async throws -> SocketIOValue) -> Self { Self(source: .closure(closure)) }

    /// The same object every time, as a literal.
    public init(dictionaryLiteral elements: (String, SocketIOValue)...) {
        self.source = .value(.object(.init(elements.map { (key: $0.0, value: $0.1) })))
    }

    private init(source: Source) {
        self.source = source
    }
}

/// What happens to an event for which there is no room while the socket is not connected.
public enum SocketBufferOverflow: Sendable, Hashable {
    /// It fails with ``SocketIOError/Code/bufferFull``: the ack's waiter hears it, else the lifecycle listeners.
    case fail
    /// The event that waited longest makes room, and fails so. The choice for positions and prices.
    case dropOldest
}

/// How a ``SocketManager`` connects, and what it keeps while it cannot.
public struct SocketManagerConfiguration: Sendable {
    /// The connection below: transports, path, query, headers, timeout, TLS, bounds in bytes.
    public var engine: EngineIOClientConfiguration

    /// What every namespace shows the server, unless the socket was given its own. Default: nothing.
    public var auth: SocketAuthentication

    /// When a lost connection is made again. Default: as the JavaScript client, 1 s doubling to 5 s, varied by half, without end.
    public var reconnection: ReconnectionPolicy

    /// How long an ack is waited for when the call does not say. Default: 20 seconds.
    public var ackTimeout: Duration = .seconds(20)

    /// Whether attempts wait while this machine has no way to the server, and are made at once when a network comes. Default: yes.
    ///
    /// A connection that stands outlives a short gap; its heartbeat finds out whether it is dead.
    public var watchesNetwork: Bool = true

    /// Replaced in tests.
    var networkMonitor = NetworkPathMonitor.shared

    /// How many times an event is sent again whose ack did not come within ``ackTimeout``, or that was on its way when the connection was lost.
    /// Default: 0, events are sent once.
    ///
    /// Above 0 every event but a volatile one asks for an ack, also from ``SocketEmitting/emit(_:arguments:)``: the server must answer them (python's
    /// does by itself, Node's when the handler calls its callback). They are sent one after the other, each when the one before it was
    /// answered or given up, and wait meanwhile within the bounds below. At least once: an event whose ack was lost comes twice, so give it an id.
    /// An event that is given up fails with `ackTimeout` or `disconnected`.
    public var retries: Int = 0

    /// Where listeners and callbacks are called. Default: on the connection's event loop, where they must not block.
    public var callbacks: SocketCallbackContext = .eventLoop

    /// Events that may wait for ``callbacks``, where that is not the event loop. Default: 10,000. One more is dropped, and told as `.error`.
    public var maximumPendingCallbacks: Int = 10_000

    /// Bytes of those events, as they came over the wire. Default: 64 MiB.
    public var maximumPendingCallbackBytes: Int = 64 << 20

    /// Events kept per namespace while it is not connected. Default: 1,000. For one more see ``bufferOverflow``.
    public var maximumBufferedEvents: Int = 1000

    /// Bytes of the events kept per namespace while it is not connected. Default: 4 MiB.
    public var maximumBufferedBytes: Int = 4 << 20

    /// What happens to an event beyond the two bounds above. Default: it fails. Events that are repeated (``retries``) always fail.
    public var bufferOverflow: SocketBufferOverflow = .fail

    /// Events taken from the server before its answer to CONNECT: those missed, when it recovers a session. Default: 10,000. A server that sends
    /// more breaks the connection.
    public var maximumEarlyEvents: Int = 10_000

    /// Bytes of those events, as they came over the wire. Default: 16 MiB.
    public var maximumEarlyBytes: Int = 16 << 20

    /// Acks waited for at one time per namespace. Default: 10,000.
    public var maximumPendingAcks: Int = 10_000

    /// Attachments of one packet from the server. Default: 64; the server is more trusted than a client is by a server.
    public var maximumAttachments: Int = 64

    /// Time the attachments of one packet may take, all together, before the connection is given up and made again. Default: 60 seconds.
    public var attachmentsTimeout: Duration = .seconds(60)

    /// How packets are written. The server must use the same. Default: JSON.
    public var parser: SocketIOParser = .json

    /// Makes a configuration; see the members for the defaults.
    public init(
        transports: [EngineIOClientConfiguration.Transport] = [.polling, .websocket],
        version: EngineIOClientConfiguration.ProtocolVersion = .automatic,
        path: String = "/socket.io/",
        query: [String: String] = [:],
        headers: [String: String] = [:],
        auth: SocketAuthentication = .none,
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

    /// Makes a configuration whose auth is asked at every attempt.
    public init(
        transports: [EngineIOClientConfiguration.Transport] = [.polling, .websocket],
        version: EngineIOClientConfiguration.ProtocolVersion = .automatic,
        path: String = "/socket.io/",
        query: [String: String] = [:],
        headers: [String: String] = [:],
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
