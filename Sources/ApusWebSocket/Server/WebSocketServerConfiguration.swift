public import ApusWebSocketProtocol
public import HTTPTypes
public import NIOCore

/// How a WebSocket server behaves. The defaults are safe for a server that faces the internet.
public struct WebSocketServerConfiguration: Sendable {
    // MARK: Who is let in

    /// The path WebSockets are opened on, compared whole and without the query. Default: `/`. `nil`: every path; the handler looks at the
    /// request.
    public var path: String? = "/"

    /// Which pages of a browser may connect. Default: those of the same origin. Clients that are no browsers send no `Origin` and are let in.
    public var origins: OriginPolicy = .sameOrigin

    /// Which of the subprotocols a client offers is spoken. Default: none.
    public var subprotocols: WebSocketSubprotocolSelection = .none

    /// The application's own check of a handshake that is otherwise in order: a token, a session.
    ///
    /// Throw a ``WebSocketUpgradeRefusal`` to refuse; any other error is answered with 500. It may suspend; ``handshakeTimeout`` runs
    /// meanwhile and cancels it. Default: everybody is let in.
    public var shouldUpgrade: (@Sendable (HTTPRequest) async throws -> Void)?

    /// The most WebSockets at once. Above it a handshake is answered with 503 and `Retry-After`.
    ///
    /// An `async` handler that goes on after its connection has ended keeps the place until it returns.
    ///
    /// Default: 20,000. Each needs a file descriptor: `ulimit -n` must allow as many.
    public var maximumConnections: Int = 20_000

    /// The most WebSockets of one IPv4 address or one IPv6 /64 network. Above it a handshake is answered with 429 and `Retry-After`.
    ///
    /// Default: 1,000. The loopback and Unix sockets are not counted (a reverse proxy sits there); see ``clientAddress``.
    public var maximumConnectionsPerAddress: Int = 1_000

    /// Under what name a client is counted, for servers behind a proxy: for example the last address of `X-Forwarded-For`, which the
    /// proxy itself has written. `nil` from the closure: not counted by address. Default: the peer's address.
    public var clientAddress: (@Sendable (HTTPRequest, SocketAddress?) -> String?)?

    /// What `Retry-After` says when the server or an address is full, or the server goes down. Default: 5 seconds.
    public var retryAfter: Duration = .seconds(5)

    // MARK: The handshake

    /// The time from the first byte to the 101: TLS, HTTP and ``shouldUpgrade`` together. No byte of the peer prolongs it.
    ///
    /// Default: 10 seconds. Mounted in an application it runs from the request's head on; what is before is the application's.
    public var handshakeTimeout: Duration = .seconds(10)

    /// How messages may be compressed (permessage-deflate) when a client offers it.
    ///
    /// Default: `nil`, not at all: it costs memory for every connection, and a handful of bytes can become a megabyte.
    public var compression: WebSocketDeflateConfiguration?

    // MARK: Open connections

    /// Sizes of frames and messages, of a handshake's header fields (431 above them), and the time a close handshake may take.
    public var limits = WebSocketLimits()

    /// How much waits between a client and its handler, either way, and what becomes of a reader that is too slow.
    ///
    /// Default: such a reader is closed with 1008 when 4 MiB wait for it.
    public var flow = WebSocketFlowControl()

    /// Bytes that may wait for all clients together. Above it the connections for which most waits are cut, and from three quarters of it on
    /// new ones are answered with 503.
    ///
    /// What waits for one client is ``flow``'s. A message to many clients counts for each of them. Default: 256 MiB.
    public var maximumQueuedBytesInAll: Int = 256 << 20

    /// Bytes of messages that have begun and not ended, of all clients together: fragments, parts of frames, and what was read from clients that have
    /// to wait. Above it the connections that hold most are cut, and from three quarters of it on new ones are answered with 503.
    ///
    /// Messages that come whole are not counted. Default: 64 MiB.
    public var maximumUnfinishedBytes: Int = 64 << 20

    /// Time between two Pings. A client that has gone without a word is found by them, and proxies keep the connection.
    ///
    /// Default: 20 seconds, as Python's `websockets`. `nil`: no Pings.
    public var pingInterval: Duration? = .seconds(20)

    /// Time a client has to answer a Ping before its connection is cut; four times as long while other bytes come, because the answer may
    /// stand behind a large message.
    ///
    /// Default: 20 seconds.
    public var pingTimeout: Duration = .seconds(20)

    /// Time what waits for a slow reader may grow, or not get less, before its connection is cut.
    ///
    /// Default: 20 seconds. How much may wait meanwhile, and what happens above that, is ``flow``'s.
    public var stallTimeout: Duration = .seconds(20)

    // MARK: Going down

    /// How many clients are told at a time that the server goes down. Default: 500.
    public var drainBatchSize: Int = 500

    /// The mean time between two batches; each varies by half. Default: 100 ms.
    public var drainBatchGap: Duration = .milliseconds(100)

    /// The time a going-down may take in all. Whoever is connected then is cut. Default: 20 seconds.
    public var drainTimeout: Duration = .seconds(20)

    /// The defaults.
    public init() {}

    /// Says what contradicts itself. `run` asks; a server that is mounted is used as it is configured.
    ///
    /// - Throws: ``WebSocketError/Code/invalidUse`` with what is wrong.
    public func validate() throws(WebSocketError) {
        func refuse(_ message: String) -> WebSocketError { WebSocketError(.invalidUse, message: message) }
        if let path = self.path, !path.hasPrefix("/") || path.contains("?") || path.contains("#") {
            throw refuse("the path \(path.debugDescription) does not begin with a slash, or holds a query")
        }
        guard self.maximumConnections > 0, self.maximumConnectionsPerAddress > 0 else { throw refuse("caps that let nobody in") }
        guard self.handshakeTimeout > .zero, self.pingTimeout > .zero, self.stallTimeout > .zero, (self.pingInterval ?? .seconds(1)) > .zero
        else { throw refuse("a deadline or an interval of no time") }
        guard self.limits.maximumFrameBytes > 0, self.limits.maximumMessageBytes > 0, self.limits.maximumFragments > 0,
            self.limits.maximumHeaderFields > 0, self.limits.maximumHeaderBytes > 0
        else { throw refuse("limits that let nothing through") }
        guard self.maximumQueuedBytesInAll > 0, self.maximumUnfinishedBytes > 0, self.flow.queueLowMark > 0 else {
            throw refuse("`maximumQueuedBytesInAll`, `maximumUnfinishedBytes` and `flow.queueLowMark` must be greater than 0")
        }
        guard self.drainBatchSize > 0, self.drainBatchGap >= .zero, self.drainTimeout >= .zero else {
            throw refuse("a drain without batches, or of less than no time")
        }
        try self.compression?.validate()
    }
}
