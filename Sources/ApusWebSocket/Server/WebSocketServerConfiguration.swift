public import ApusWebSocketProtocol
public import HTTPTypes
public import NIOCore

/// The configuration of a WebSocket server. The defaults are safe for a server on the public
/// internet.
public struct WebSocketServerConfiguration: Sendable {
    // MARK: Admission

    /// The path of the WebSocket endpoint, without the query. It is compared exactly. Default: `/`.
    /// `nil` accepts every path; the handler can check the request.
    public var path: String? = "/"

    /// The web page origins that may connect. Default: the same origin only. Clients that are not
    /// browsers send no `Origin` and are accepted.
    public var origins: OriginPolicy = .sameOrigin

    /// The selection among the subprotocols that a client offers. Default: none.
    public var subprotocols: WebSocketSubprotocolSelection = .none

    /// The application's check of a handshake that passed all other checks, for example of a token
    /// or a session.
    ///
    /// Throw a ``WebSocketUpgradeRefusal`` to refuse the handshake; any other error is answered
    /// with
    /// 500. The closure may suspend; it is cancelled after ``handshakeTimeout``. Default: every
    /// handshake is accepted.
    public var shouldUpgrade: (@Sendable (HTTPRequest) async throws -> Void)?

    /// The maximum number of WebSockets. Further handshakes are answered with 503 and
    /// `Retry-After`.
    ///
    /// A connection with an `async` handler counts until the handler returns, even if the
    /// connection has ended before.
    ///
    /// Default: 20,000. Each WebSocket requires a file descriptor, so `ulimit -n` must be larger.
    public var maximumConnections: Int = 20_000

    /// The maximum number of WebSockets per IPv4 address or IPv6 /64 network. Further handshakes
    /// are answered with 429 and `Retry-After`.
    ///
    /// Default: 1,000. Connections from loopback addresses and over Unix sockets are not counted,
    /// because they may be those of a reverse proxy; see ``clientAddress``.
    public var maximumConnectionsPerAddress: Int = 1_000

    /// A closure that returns the key by which a client is counted. Behind a proxy, this can be the
    /// last address of `X-Forwarded-For`, which the proxy itself added. A client without a key is
    /// not counted by address. Default: `nil`, the key is the peer's address.
    public var clientAddress: (@Sendable (HTTPRequest, SocketAddress?) -> String?)?

    /// The value of `Retry-After` in the server's responses 429 and 503. Default: 5 seconds.
    public var retryAfter: Duration = .seconds(5)

    // MARK: The handshake

    /// The maximum time from the accepted connection to the 101 response, including TLS, HTTP and
    /// ``shouldUpgrade``. Received bytes do not extend it. A frame header of an open connection
    /// must also become complete within this time.
    ///
    /// Default: 10 seconds. Inside another server's pipeline, the time starts with the head of the
    /// request.
    public var handshakeTimeout: Duration = .seconds(10)

    /// The compression of messages (permessage-deflate), used with clients that offer it.
    ///
    /// Default: `nil`, no compression. Compression requires memory for every connection, and a few
    /// received bytes can expand to a megabyte.
    public var compression: WebSocketDeflateConfiguration?

    // MARK: Open connections

    /// The limits on frames, messages and handshake fields, and the time for a close handshake. A
    /// handshake that exceeds a limit on fields is answered with 431.
    public var limits = WebSocketLimits()

    /// The queue limits between a client and its handler, in both directions, and the policy for a
    /// slow reader.
    ///
    /// By default, the connection of a slow reader closes with 1008 when 4 MiB are queued for it.
    public var flow = WebSocketFlowControl()

    /// The maximum number of bytes queued for all clients together. Above the limit, the
    /// connections with the longest queues are aborted. Above three quarters of it, handshakes are
    /// answered with 503.
    ///
    /// ``flow`` limits the queue of one client. A message to many clients counts for each of them.
    /// Default: 256 MiB.
    public var maximumTotalQueuedBytes: Int = 256 << 20

    /// The maximum number of bytes of incomplete messages of all clients together: fragments,
    /// partial frames, and bytes read from clients that must wait. Above the limit, the connections
    /// that use the most are aborted. Above three quarters of it, handshakes are answered with 503.
    ///
    /// Messages that arrive in one read are not counted. Default: 64 MiB.
    public var maximumUnfinishedBytes: Int = 64 << 20

    /// The time between two Pings. Pings detect dead clients and prevent proxies from closing an
    /// idle connection.
    ///
    /// Default: 20 seconds, as in Python's `websockets`. `nil` sends no Pings.
    public var pingInterval: Duration? = .seconds(20)

    /// The maximum time for the answer to a Ping, after which the connection is aborted. While
    /// other bytes arrive, the time is four times as long, because the Pong may follow a large
    /// message.
    ///
    /// Default: 20 seconds.
    public var pingTimeout: Duration = .seconds(20)

    /// The time for which the queue of a slow reader may grow or stay the same before its
    /// connection is aborted.
    ///
    /// Default: 20 seconds. ``flow`` limits the length of the queue.
    public var stallTimeout: Duration = .seconds(20)

    // MARK: Shutdown

    /// The number of clients closed at a time during a shutdown. Default: 500.
    public var drainBatchSize: Int = 500

    /// The mean time between two batches. Each time varies by up to half. Default: 100 ms.
    public var drainBatchGap: Duration = .milliseconds(100)

    /// The maximum time of a shutdown, after which open connections are aborted. Default: 20
    /// seconds.
    public var drainTimeout: Duration = .seconds(20)

    /// Creates the default configuration.
    public init() {}

    /// Checks the configuration. `run` calls this method; for a server in another server's
    /// pipeline, call it yourself.
    ///
    /// - Throws: `WebSocketError.Code.invalidConfiguration`. The message names the invalid value.
    public func validate() throws(WebSocketError) {
        func invalid(_ message: String) -> WebSocketError { WebSocketError(.invalidConfiguration, message: message) }
        if let path = self.path, !path.hasPrefix("/") || path.contains("?") || path.contains("#") {
            throw invalid("`path` must begin with \"/\" and contain no query or fragment, not \(path.debugDescription)")
        }
        let times = [
            ("handshakeTimeout", self.handshakeTimeout), ("pingInterval", self.pingInterval ?? .seconds(1)),
            ("pingTimeout", self.pingTimeout), ("stallTimeout", self.stallTimeout),
        ]
        for (name, time) in times where time <= .zero { throw invalid("`\(name)` must be greater than 0, not \(time)") }
        let numbers = [
            ("maximumConnections", self.maximumConnections), ("maximumConnectionsPerAddress", self.maximumConnectionsPerAddress),
            ("limits.maximumFrameBytes", self.limits.maximumFrameBytes), ("limits.maximumMessageBytes", self.limits.maximumMessageBytes),
            ("limits.maximumFragments", self.limits.maximumFragments), ("limits.maximumHeaderFields", self.limits.maximumHeaderFields),
            ("limits.maximumHeaderBytes", self.limits.maximumHeaderBytes), ("maximumTotalQueuedBytes", self.maximumTotalQueuedBytes),
            ("maximumUnfinishedBytes", self.maximumUnfinishedBytes), ("flow.queueLowMark", self.flow.queueLowMark),
            ("drainBatchSize", self.drainBatchSize),
        ]
        for (name, number) in numbers where number <= 0 { throw invalid("`\(name)` must be greater than 0, not \(number)") }
        for (name, time) in [("drainBatchGap", self.drainBatchGap), ("drainTimeout", self.drainTimeout)] where time < .zero {
            throw invalid("`\(name)` must not be negative, but is \(time)")
        }
        try self.compression?.validate()
    }
}
