package import ApusEngineIOProtocol
package import ApusWebSocket
package import HTTPTypes

/// How an Engine.IO server behaves. Every default is the reference server's, unless its comment says otherwise.
package struct EngineIOServerConfiguration: Sendable {
    /// The path the server answers on, with a slash at both ends.
    package var path = "/engine.io/"
    /// Time between a pong and the next ping. Default: 25 seconds.
    package var pingInterval: Duration = .seconds(25)
    /// Time a client has to answer a ping. Default: 20 seconds.
    package var pingTimeout: Duration = .seconds(20)
    /// Time a WebSocket probe has to complete its upgrade. Default: 10 seconds.
    package var upgradeTimeout: Duration = .seconds(10)
    /// Time a request may take to come whole, head and body together; alone also the first one of a connection, TLS included. Default: 10 seconds.
    package var requestTimeout: Duration = .seconds(10)
    /// Time a connection may be silent between two requests, when the server is alone. Default: 75 seconds.
    package var keepAliveTimeout: Duration = .seconds(75)
    /// Largest POST body and WebSocket message, in bytes. Default: 1,000,000.
    package var maximumPayloadBytes = 1_000_000
    /// Most packets in one polling payload. Default: 1,000 (the reference has no bound).
    package var maximumPacketsPerPayload = 1_000
    /// Most packets that one poll is answered with; the rest waits for the next. Default: 16, because python-engineio's client refuses more.
    package var maximumPacketsPerAnswer = 16
    /// Most bytes that may wait for one slow client before its session is closed. Default: 16 MiB (the reference has no bound).
    package var maximumQueuedBytes = 16 << 20
    /// Most sessions at once, over all addresses. Default: 20,000.
    package var maximumSessions = 20_000
    /// Whether clients of protocol version 3 (Socket.IO 2.x) are taken too. Default: no.
    package var allowsV3 = false
    /// The transports offered. Default: both.
    package var transports: Set<EngineIOServerSession.Transport> = [.polling, .webSocket]
    /// Whether a polling session may become a WebSocket. Default: yes.
    package var allowsUpgrades = true
    /// Which pages may talk to the server. Default: those of the same origin.
    package var origins: OriginPolicy = .sameOrigin
    /// A check before the handshake; throw `EngineIOError(.forbidden, message:)` to refuse with 403 and that text.
    package var allowRequest: (@Sendable (HTTPRequest) throws -> Void)?

    package init() {}
}
