public import ApusEngineIOProtocol
public import ApusWebSocket
public import HTTPTypes

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

    // MARK: Times

    /// Time between a client's pong and the next ping. Default: 25 seconds. A proxy that drops idle connections sooner needs less.
    public var pingInterval: Duration = .seconds(25)
    /// Time a client has to answer a ping before it is taken for gone. Default: 20 seconds.
    public var pingTimeout: Duration = .seconds(20)
    /// Time an upgrade may take; after it the client stays on polling. Default: 10 seconds.
    public var upgradeTimeout: Duration = .seconds(10)
    /// Time an HTTP request may take to come whole, head and body together, whatever trickles in; when the server runs alone also the first
    /// request of a connection, TLS included. The connection is closed. Default: 10 seconds (the reference leaves it to Node's 5 minutes).
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
    /// Most bytes that may wait for one slow client before it is disconnected. Default: 16 MiB (the reference has no bound).
    public var maximumQueuedBytes = 16 << 20
    /// Most clients at once, over all addresses. Default: 20,000.
    public var maximumClients = 20_000

    // MARK: Who may come

    /// Which pages of a browser may connect, by polling and by WebSocket. Default: those of the same origin (the reference lets any page open a
    /// WebSocket).
    public var origins: OriginPolicy = .sameOrigin
    /// A check of the handshake request. What it throws is answered with 403: an ``EngineIOError`` with its message. Default: none.
    public var allowRequest: (@Sendable (HTTPRequest) throws -> Void)?

    /// The defaults.
    public init() {}
}
