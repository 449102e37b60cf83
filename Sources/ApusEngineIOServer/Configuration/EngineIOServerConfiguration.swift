public import ApusEngineIOProtocol
public import ApusWebSocket
public import HTTPTypes
public import NIOCore

/// How an Engine.IO server behaves. Every default is the reference server's, unless its comment says otherwise.
///
/// A Socket.IO server has all of these in its own configuration.
public struct EngineIOServerConfiguration: Sendable {
    // MARK: What is offered

    /// The path the server answers on, with a slash at both ends. Default: `/engine.io/`; a Socket.IO server's is `/socket.io/`.
    public var path = "/engine.io/"
    /// Whether clients of Engine.IO 3 (Socket.IO 2.x) are taken too, on the same port. Default: no.
    public var allowsEngineIO3 = false
    /// The transports offered. Default: both.
    public var transports: Set<EngineIOTransport> = [.polling, .webSocket]
    /// Whether a polling client may go on by WebSocket. Default: yes.
    public var allowsUpgrades = true
    /// How the answers to polls are compressed when the client accepts that. Default: from 1,024 bytes on. `nil`: not at all.
    public var httpCompression: EngineIOHTTPCompression? = .init()
    /// How WebSocket messages are compressed (permessage-deflate) when the client offers it. Default: `nil`, not at all: it costs up to 300 KB
    /// a client.
    ///
    /// A message to many is compressed once. After it a client's own compression starts anew, so that much broadcasting makes the messages to
    /// single clients a little larger; a client that wants a smaller window than ours gets such a message uncompressed.
    public var perMessageDeflate: WebSocketDeflateConfiguration?
    /// A cookie with the session's id, for load balancers. Default: none.
    public var cookie: EngineIOCookie?

    // MARK: Times

    /// Time between a client's pong and the next ping. Default: 25 seconds. A proxy that drops idle connections sooner needs less.
    public var pingInterval: Duration = .seconds(25)
    /// Time a client has to answer a ping before it is taken for gone. Default: 20 seconds.
    public var pingTimeout: Duration = .seconds(20)
    /// Time an upgrade may take; after it the client stays on polling. Default: 10 seconds.
    public var upgradeTimeout: Duration = .seconds(10)
    /// Time an HTTP request may take to come whole, head and body together, whatever trickles in; ``allowRequest`` has as much again. When the
    /// server runs alone also the first request of a connection, TLS included. The connection is closed. Default: 10 seconds (the reference
    /// leaves it to Node's 5 minutes).
    public var requestTimeout: Duration = .seconds(10)
    /// Time an HTTP connection may be silent between two requests, when the server runs alone; a web framework has its own. Default: 75 seconds.
    public var keepAliveTimeout: Duration = .seconds(75)

    // MARK: Bounds

    /// Largest POST body and WebSocket message. Unit: bytes. Default: 1,000,000.
    public var maximumPayloadBytes = 1_000_000
    /// Most packets in one polling payload. Default: 1,000 (the reference has no bound).
    public var maximumPacketsPerPayload = 1_000
    /// Most packets that one poll is answered with; the rest waits for the next. Default: 16, because python-engineio's client refuses more.
    public var maximumPacketsPerAnswer = 16
    /// Most bytes that may wait for one slow client before it is disconnected with `transport error`. Default: 16 MiB (the reference has no
    /// bound). Volatile events are dropped much sooner: when the client is not ready for them.
    public var maximumQueuedBytes = 16 << 20
    /// Bytes that wait for one client above which none of its messages is handled and nothing more is read from it, until it has taken them. Default:
    /// 1 MiB (the reference has no bound). At most half of ``maximumQueuedBytes`` counts; on a WebSocket less than 64 KiB has the effect of that.
    ///
    /// A client that asks for much and reads nothing is slowed down by that, and ends by its ping timeout.
    public var queueLowMark = 1 << 20
    /// Bytes that may wait for all clients together: for their next polls, and in answers and WebSockets that are not read. Above it the clients for
    /// which most waits are disconnected, and from three quarters of it on new ones are answered with 503. A message to many clients counts for
    /// each of them. Default: 256 MiB (the reference has no bound).
    public var maximumQueuedBytesInAll = 256 << 20
    /// Bytes of input that is not complete, of all clients together: fragments and parts of WebSocket messages, POST bodies, packets that wait for
    /// their attachments, messages of clients that have to wait. Above it the clients that hold most are disconnected, and from three quarters
    /// of it on new ones are answered with 503. What comes whole is not counted. Default: 64 MiB (the reference has no bound).
    public var maximumUnfinishedBytes = 64 << 20
    /// Most clients at once, over all addresses. Others are answered with 503. Default: 20,000.
    public var maximumClients = 20_000
    /// Most clients of one IPv4 address or one IPv6 /64 network. Others are answered with 429. Default: 1,000 (the reference has no bound).
    ///
    /// The loopback and Unix sockets are not counted (a reverse proxy sits there); see ``clientAddress``. A server that listens by itself also closes
    /// connections above twice this number and twice ``maximumClients``, with room for those who are refused.
    public var maximumClientsPerAddress = 1_000
    /// Under what name a client is counted, for servers behind a proxy: for example the last address of `X-Forwarded-For`, which the proxy
    /// itself has written. `nil` from the closure: not counted by address. Default: the peer's address.
    public var clientAddress: (@Sendable (HTTPRequest, SocketAddress?) -> String?)?

    /// Whether a session keeps the header fields and the query of its handshake request. Default:
    /// yes.
    package var keepsRequests = true

    // MARK: Who may come

    /// Which pages of a browser may connect, by polling and by WebSocket, checked at every request. Default: those of the same origin (the
    /// reference lets any page open a WebSocket). A WebSocket handshake that carries a cookie but no `Origin` is refused, unless any page may.
    public var origins: OriginPolicy = .sameOrigin
    /// What pages of other origins may do. Heeded for those that ``origins`` lets in.
    public var cors = EngineIOCORS()
    /// A check of the handshake request, after all others. It may suspend; ``requestTimeout`` and the client's leaving cancel it.
    ///
    /// What it throws is answered with 403: an ``EngineIOError`` with its message, anything else with "Forbidden". Default: none.
    public var allowRequest: (@Sendable (HTTPRequest) async throws -> Void)?

    // MARK: Hooks

    /// Changes the header fields of the answer a session begins with: the first answer to a poll, or the WebSocket's 101. Default: none.
    ///
    /// Fields that frame the answer cannot be changed. Called on an event loop: it must not block.
    public var initialHeaders: (@Sendable (inout HTTPFields, HTTPRequest) -> Void)?
    /// Changes the header fields of every answer, after ``initialHeaders``. Default: none.
    public var headers: (@Sendable (inout HTTPFields, HTTPRequest) -> Void)?
    /// Hears of every request that is refused. Default: nobody does. Called on an event loop: it must not block.
    public var onConnectionError: (@Sendable (EngineIOConnectionError) -> Void)?

    // MARK: Going down

    /// How many clients are told at a time that the server goes down. Default: 500.
    public var drainBatchSize = 500
    /// The mean time between two batches; each varies by half. Default: 100 ms.
    public var drainBatchGap: Duration = .milliseconds(100)
    /// The time a going-down may take in all. Whoever is connected then is cut. Default: 10 seconds.
    public var drainTimeout: Duration = .seconds(10)

    /// The defaults.
    public init() {}

    /// Says what contradicts itself. A server that listens by itself asks; one that is mounted is used as it is configured.
    ///
    /// - Throws: ``EngineIOError/Code/invalidConfiguration`` with what is wrong.
    public func validate() throws(EngineIOError) {
        func refuse(_ message: String) -> EngineIOError { EngineIOError(.invalidConfiguration, message: message) }
        guard self.path.hasPrefix("/"), self.path.hasSuffix("/"), !self.path.contains(where: { "?#".contains($0) }) else {
            throw refuse("the path \(self.path.debugDescription) has no slash at both ends, or holds a query")
        }
        guard !self.transports.isEmpty else { throw refuse("no transport") }
        let times = [self.pingInterval, self.pingTimeout, self.upgradeTimeout, self.requestTimeout, self.keepAliveTimeout]
        guard times.allSatisfy({ $0 > .zero }) else { throw refuse("a deadline or an interval of no time") }
        let bounds = [
            self.maximumPayloadBytes, self.maximumPacketsPerPayload, self.maximumPacketsPerAnswer, self.maximumQueuedBytes,
            self.queueLowMark, self.maximumQueuedBytesInAll, self.maximumUnfinishedBytes, self.maximumClients,
            self.maximumClientsPerAddress,
        ]
        guard bounds.allSatisfy({ $0 > 0 }) else { throw refuse("a bound that lets nothing through") }
        guard self.drainBatchSize > 0, self.drainBatchGap >= .zero, self.drainTimeout >= .zero else {
            throw refuse("a drain without batches, or of less than no time")
        }
        guard self.cookie?.isValid ?? true else { throw refuse("a cookie whose name, path or domain cannot stand in Set-Cookie") }
        guard (1...9).contains(self.httpCompression?.level ?? 1) else { throw refuse("a compression level that is not one of 1 to 9") }
        do throws(WebSocketError) { try self.perMessageDeflate?.validate() } catch {
            throw EngineIOError(.invalidConfiguration, message: error.message, cause: error)
        }
    }
}
