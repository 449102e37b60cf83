public import ApusEngineIOProtocol
import ApusEventLoop
public import ApusWebSocket
public import ApusWebSocketProtocol
public import HTTPTypes
public import NIOCore

/// The configuration of an Engine.IO server. The defaults are those of Node's engine.io, unless
/// noted.
///
/// The configuration of a Socket.IO server contains this configuration in `engine`.
public struct EngineIOServerConfiguration: Sendable {
    // MARK: Features

    /// The path of the server, with a slash at both ends. Default: `/engine.io/`; a Socket.IO
    /// server uses `/socket.io/`.
    public var path = "/engine.io/"
    /// Whether clients of Engine.IO 3 (Socket.IO 2.x) are accepted too. Default: `false`.
    public var allowsEngineIO3 = false
    /// The transports that the server offers. Default: polling and WebSocket.
    public var transports: Set<EngineIOTransport> = [.polling, .webSocket]
    /// Whether a session may upgrade to another offered transport, which is possible from polling
    /// to WebSocket only. Default: `true`.
    public var allowsUpgrades = true
    /// The compression of poll responses, if the client accepts it. Default: responses of 1,024
    /// bytes or more. `nil` disables it.
    public var httpCompression: EngineIOHTTPCompression? = .init()
    /// The compression of WebSocket messages (permessage-deflate), if the client offers it.
    /// Default: `nil`, disabled, because it costs up to 300 KB of memory for each client.
    ///
    /// A message to many clients is compressed once and resets the compression context of each
    /// client, so that frequent broadcasts make messages to single clients slightly larger. A
    /// client that negotiated a smaller window receives a message to many clients uncompressed.
    public var perMessageDeflate: WebSocketDeflateConfiguration?
    /// A cookie with the session id, for load balancers. Default: none.
    public var cookie: EngineIOCookie?

    // MARK: Times

    /// The time between a client's pong and the next ping. Default: 25 seconds. Must be shorter
    /// than the idle timeout of a proxy.
    public var pingInterval: Duration = .seconds(25)
    /// The maximum time for the answer to a ping, after which the session closes. Default: 20
    /// seconds.
    public var pingTimeout: Duration = .seconds(20)
    /// The maximum time for an upgrade, after which the session continues on polling. Default: 10
    /// seconds.
    public var upgradeTimeout: Duration = .seconds(10)
    /// The maximum time for receiving a complete HTTP request, head and body. ``allowRequest`` may
    /// take the same time in addition. A server with its own listener also applies the limit to the
    /// first request of a connection, including the TLS handshake. On expiry the connection is
    /// closed. Default: 10 seconds (Node's engine.io relies on Node's 5 minutes).
    public var requestTimeout: Duration = .seconds(10)
    /// The maximum idle time of an HTTP connection between two requests, if the server has its own
    /// listener. Default: 75 seconds.
    public var keepAliveTimeout: Duration = .seconds(75)

    // MARK: Limits

    /// The maximum size of a POST body or a WebSocket message. Unit: bytes. Default: 1,000,000.
    public var maximumPayloadBytes = 1_000_000
    /// The maximum number of packets in one polling payload. Default: 1,000 (Node's engine.io has
    /// no limit).
    public var maximumPacketsPerPayload = 1_000
    /// The maximum number of packets in the answer to a poll. Default: 16, because
    /// python-engineio's client refuses more.
    public var maximumPacketsPerAnswer = 16
    /// The maximum size of a client's outgoing queue, beyond which the session closes with
    /// `transport error`. Unit: bytes. Default: 16 MiB (Node's engine.io has no limit). Volatile
    /// events are dropped earlier: whenever the client is not ready to receive.
    public var maximumQueuedBytes = 16 << 20
    /// The size of a client's outgoing queue above which the server neither reads from the client
    /// nor handles its messages, until the queue is shorter. Unit: bytes. Default: 1 MiB (Node's
    /// engine.io has no limit). The effective value is at most half of ``maximumQueuedBytes``; on a
    /// WebSocket, values below 64 KiB act as 64 KiB.
    ///
    /// This applies back-pressure to a client that sends requests without reading the answers. If
    /// it never reads, the session closes after the ping timeout.
    public var queueLowMark = 1 << 20
    /// The maximum size of all outgoing queues together: packets for the next polls, and responses
    /// and WebSocket frames that are not read. Unit: bytes. Above it the server closes the clients
    /// with the largest queues; above three quarters it answers new clients with 503. A message to
    /// many clients counts once for each client. Default: 256 MiB (Node's engine.io has no limit).
    public var maximumTotalQueuedBytes = 256 << 20
    /// The maximum size of all incomplete input together: fragments and parts of WebSocket
    /// messages, POST bodies, packets that await attachments, and messages that wait to be handled.
    /// Unit: bytes. Above it the server closes the clients with the most incomplete input; above
    /// three quarters it answers new clients with 503. Input that arrives complete is not counted.
    /// Default: 64 MiB (Node's engine.io has no limit).
    public var maximumUnfinishedBytes = 64 << 20
    /// The maximum number of clients. Further clients are answered with 503. Default: 20,000.
    public var maximumClients = 20_000
    /// The maximum number of clients of one IPv4 address or IPv6 /64 network. Further clients are
    /// answered with 429. Default: 1,000 (Node's engine.io has no limit).
    ///
    /// Loopback addresses and Unix sockets are not counted, because a reverse proxy connects from
    /// them; see ``clientAddress``. A server with its own listener also limits its connections to
    /// twice this number for each address and twice ``maximumClients`` in total, plus a reserve for
    /// refused clients.
    public var maximumClientsPerAddress = 1_000
    /// Returns the name under which a client is counted, for servers behind a proxy: for example
    /// the last address of `X-Forwarded-For`, which the proxy itself wrote. If the closure returns
    /// `nil`, the client is not counted by address. Default: the peer's address.
    public var clientAddress: (@Sendable (HTTPRequest, SocketAddress?) -> String?)?

    /// Whether a session keeps the header fields and the query of its handshake request. Default:
    /// `true`.
    package var keepsRequests = true

    // MARK: Access

    /// The origins whose pages may connect, by polling and by WebSocket, checked for every request.
    /// Default: the same origin (Node's engine.io lets any page open a WebSocket). A WebSocket
    /// handshake with a cookie but without `Origin` is refused, unless any origin is allowed.
    public var origins: OriginPolicy = .sameOrigin
    /// The CORS permissions for pages of other origins that ``origins`` allows.
    public var cors = EngineIOCORS()
    /// A check of the handshake request. It runs after the checks of origin, transport and version,
    /// and before the limits on clients apply. The check may suspend; it is cancelled after
    /// ``requestTimeout`` and when the client disconnects.
    ///
    /// An `EngineIOError` is answered with the status of its code: `forbidden`, for example, with
    /// 403 and its message. Any other error is answered with 403 and "Forbidden". Default: none.
    public var allowRequest: (@Sendable (HTTPRequest) async throws -> Void)?

    // MARK: Hooks

    /// Changes the header fields of the first response of a session: the response to the handshake,
    /// or the WebSocket's 101. Default: none.
    ///
    /// The fields that delimit the body or perform the upgrade are set afterwards and cannot be
    /// changed. Called on an event loop: it must not block.
    public var initialHeaders: (@Sendable (inout HTTPFields, HTTPRequest) -> Void)?
    /// Changes the header fields of every response, after ``initialHeaders``. Default: none.
    public var headers: (@Sendable (inout HTTPFields, HTTPRequest) -> Void)?
    /// Called for a request that is refused because of its origin, transport, session id, method or
    /// version, a limit on clients, or ``allowRequest``. Not called for a body that is too large or
    /// malformed, or for a second concurrent GET or POST. Default: none. Called on an event loop:
    /// it must not block.
    public var onConnectionError: (@Sendable (EngineIOConnectionError) -> Void)?

    // MARK: Shutdown

    /// The number of clients notified of a shutdown at a time. Default: 500.
    public var drainBatchSize = 500
    /// The mean time between two batches. The actual time varies by half. Default: 100 ms.
    public var drainBatchGap: Duration = .milliseconds(100)
    /// The maximum time of a shutdown, after which remaining connections are closed. Default: 10
    /// seconds.
    public var drainTimeout: Duration = .seconds(10)

    /// Creates a configuration with default values.
    public init() {}

    /// Validates the configuration. A server with its own listener calls this when it starts; a
    /// server mounted in a web framework does not.
    ///
    /// - Throws: `EngineIOError.Code.invalidConfiguration` with the first fault found.
    public func validate() throws(EngineIOError) {
        func refuse(_ message: String) -> EngineIOError { EngineIOError(.invalidConfiguration, message: message) }
        guard self.path.hasPrefix("/"), self.path.hasSuffix("/"), !self.path.contains(where: { "?#".contains($0) }) else {
            throw refuse("`path` must start and end with `/` and contain no `?` or `#`, not \(self.path.debugDescription)")
        }
        guard !self.transports.isEmpty else { throw refuse("`transports` must not be empty") }
        let times = [
            ("pingInterval", self.pingInterval), ("pingTimeout", self.pingTimeout), ("upgradeTimeout", self.upgradeTimeout),
            ("requestTimeout", self.requestTimeout), ("keepAliveTimeout", self.keepAliveTimeout),
        ]
        for (name, time) in times where time <= .zero { throw refuse("`\(name)` must be greater than 0, not \(time)") }
        let numbers = [
            ("maximumPayloadBytes", self.maximumPayloadBytes), ("maximumPacketsPerPayload", self.maximumPacketsPerPayload),
            ("maximumPacketsPerAnswer", self.maximumPacketsPerAnswer), ("maximumQueuedBytes", self.maximumQueuedBytes),
            ("queueLowMark", self.queueLowMark), ("maximumTotalQueuedBytes", self.maximumTotalQueuedBytes),
            ("maximumUnfinishedBytes", self.maximumUnfinishedBytes), ("maximumClients", self.maximumClients),
            ("maximumClientsPerAddress", self.maximumClientsPerAddress), ("drainBatchSize", self.drainBatchSize),
        ]
        for (name, number) in numbers where number <= 0 { throw refuse("`\(name)` must be greater than 0, not \(number)") }
        for (name, time) in [("drainBatchGap", self.drainBatchGap), ("drainTimeout", self.drainTimeout)] where time < .zero {
            throw refuse("`\(name)` must not be negative, but is \(time)")
        }
        guard self.cookie?.isValid ?? true else {
            throw refuse("`cookie` must have a name, path and domain that are valid in Set-Cookie (RFC 6265 4.1.1)")
        }
        let level = self.httpCompression?.level ?? 1
        guard (1...9).contains(level) else { throw refuse("`httpCompression.level` must be from 1 to 9, not \(level)") }
        do throws(WebSocketError) { try self.perMessageDeflate?.validate() } catch {
            throw EngineIOError(.invalidConfiguration, message: error.message, cause: error)
        }
    }
}

extension EngineIOServerConfiguration {
    /// Adds the session cookie and applies the hooks for header fields.
    func changeFields(_ fields: inout HTTPFields, of request: HTTPRequest, beginning sid: RandomID?) {
        if let sid {
            if let cookie { fields.append(HTTPField(name: .setCookie, value: cookie.header(value: sid.description))) }
            self.initialHeaders?(&fields, request)
        }
        self.headers?(&fields, request)
    }
}
