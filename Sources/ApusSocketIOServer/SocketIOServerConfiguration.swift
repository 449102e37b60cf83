import ApusEngineIOProtocol
import ApusEngineIOServer
public import ApusWebSocket
public import HTTPTypes

/// How a Socket.IO server behaves. Every default is the reference server's, unless its comment says otherwise.
public struct SocketIOServerConfiguration: Sendable {
    /// The transports a server can offer.
    public enum Transport: Sendable, Hashable {
        /// HTTP long-polling.
        case polling
        /// WebSocket.
        case webSocket
    }

    /// The path the server answers on, with a slash at both ends. Default: `/socket.io/`.
    public var path = "/socket.io/"
    /// Whether Socket.IO 2.x clients (Engine.IO 3) are taken too, on the same port. Default: no.
    public var allowsEngineIO3 = false
    /// The transports offered. Default: both.
    public var transports: Set<Transport> = [.polling, .webSocket]
    /// Whether a polling client may go on by WebSocket. Default: yes.
    public var allowsUpgrades = true
    /// Time between a client's pong and the next ping. Default: 25 seconds. A proxy that drops idle connections sooner needs less.
    public var pingInterval: Duration = .seconds(25)
    /// Time a client has to answer a ping before it is taken for gone. Default: 20 seconds.
    public var pingTimeout: Duration = .seconds(20)
    /// Time an upgrade may take; after it the client stays on polling. Default: 10 seconds.
    public var upgradeTimeout: Duration = .seconds(10)
    /// Time a client has to join its first namespace before it is closed. Default: 45 seconds.
    public var connectTimeout: Duration = .seconds(45)
    /// Time an HTTP request may take to come whole, head and body together, whatever trickles in; with `run` also the first request of a
    /// connection, TLS included. The connection is closed. Default: 10 seconds (the reference leaves it to Node's 5 minutes).
    public var requestTimeout: Duration = .seconds(10)
    /// Time an HTTP connection may be silent between two requests, with `run`; a web framework has its own. Default: 75 seconds.
    public var keepAliveTimeout: Duration = .seconds(75)
    /// Largest POST body and WebSocket message, in bytes. Default: 1,000,000.
    public var maximumPayloadBytes = 1_000_000
    /// Most packets in one polling payload. Default: 1,000 (the reference has no bound).
    public var maximumPacketsPerPayload = 1_000
    /// Most attachments of one binary packet. Default: 10.
    public var maximumAttachments = 10
    /// Most bytes that may wait for one slow client before it is disconnected. Default: 16 MiB (the reference has no bound).
    public var maximumQueuedBytes = 16 << 20
    /// Most clients at once. Default: 20,000.
    public var maximumClients = 20_000
    /// Most events that may wait for one socket's `async` handlers before it is disconnected. Default: 1,000.
    public var maximumWaitingEvents = 1_000
    /// Which pages of a browser may connect, by polling and by WebSocket. Default: those of the same origin (the reference lets any page open a WebSocket).
    public var origins: OriginPolicy = .sameOrigin
    /// A check of the handshake request. Throw a `SocketIOConnectionRefusal` to answer 403 with its message. Default: none.
    public var allowRequest: (@Sendable (HTTPRequest) throws -> Void)?

    /// The defaults.
    public init() {}

    var engine: EngineIOServerConfiguration {
        var engine = EngineIOServerConfiguration()
        engine.path = self.path
        engine.allowsV3 = self.allowsEngineIO3
        engine.transports = Set(self.transports.map { transport in transport == .polling ? .polling : .webSocket })
        engine.allowsUpgrades = self.allowsUpgrades
        engine.pingInterval = self.pingInterval
        engine.pingTimeout = self.pingTimeout
        engine.upgradeTimeout = self.upgradeTimeout
        engine.requestTimeout = self.requestTimeout
        engine.keepAliveTimeout = self.keepAliveTimeout
        engine.maximumPayloadBytes = self.maximumPayloadBytes
        engine.maximumPacketsPerPayload = self.maximumPacketsPerPayload
        engine.maximumQueuedBytes = self.maximumQueuedBytes
        engine.maximumSessions = self.maximumClients
        engine.origins = self.origins
        if let check = self.allowRequest {
            engine.allowRequest = { request in
                do { try check(request) } catch let refusal as SocketIOConnectionRefusal {
                    throw EngineIOError(.forbidden, message: refusal.message)
                }
            }
        }
        return engine
    }
}
