package import ApusEngineIOProtocol
import ApusWebSocket
package import Logging
package import NIOCore

/// Receives the events of an ``EngineIOClientConnection``, on its event loop.
package protocol EngineIOClientDelegate: AnyObject {
    /// The session is open.
    func engineOpened(_ connection: EngineIOClientConnection, handshake: EngineIOHandshake)
    /// A message was received.
    func engine(_ connection: EngineIOClientConnection, received message: EngineIOMessage)
    /// An event other than a message occurred. The default does nothing.
    func engine(_ connection: EngineIOClientConnection, happened event: EngineIOClientEvent)
    /// The session is closed. Called exactly once, as the last call.
    func engineClosed(_ connection: EngineIOClientConnection, error: EngineIOError)
}

extension EngineIOClientDelegate {
    package func engine(_ connection: EngineIOClientConnection, happened event: EngineIOClientEvent) {}
}

/// One Engine.IO session of a client, from its first request to its close. Each attempt creates its
/// own connection.
///
/// Performs the actions of ``EngineIOClientSession``. Confined to its event loop.
package final class EngineIOClientConnection {
    package let eventLoop: any EventLoop
    let configuration: EngineIOClientConfiguration
    let logger: Logger
    let memory: SessionCache
    let url: String
    /// The request parameters of the current attempt.
    var attempt: EngineIOClientConfiguration.Attempt
    var address: EngineIOClientAddress
    var polling: EngineIOClientPollingTransport
    weak var delegate: (any EngineIOClientDelegate)?

    /// The protocol version in use. `automatic` is resolved when the session opens.
    package internal(set) var version: EngineIOVersion
    var packets: EngineIOPacketCodec
    var payloads: EngineIOPayloadCodec
    /// The maximum number of packets in a response. `maximumMessageBytes` bounds the size of the
    /// body.
    static let maximumPackets = 65_536
    var plan: EngineIOTransportPlan
    var session: EngineIOClientSession
    var outbox: EngineIOClientOutbox
    var handshake: EngineIOHandshake?

    var webSocket: WebSocketHandler?
    var webSocketDelegate: EngineIOClientWebSocketDelegate?
    var heartbeat: EngineIOHeartbeatStateMachine?
    var heartbeatTimer: Scheduled<Void>?
    var openTimer: Scheduled<Void>?
    /// The timer for the deadline of an upgrade.
    var upgradeTimer: Scheduled<Void>?
    private var flushIsScheduled = false
    var preparation: Task<Void, Never>?
    /// Whether the session is closed and its remaining packets, up to the final close packet, are
    /// still being sent.
    var isFlushingClose = false
    /// The callbacks to run when all packets have been sent.
    var waitsForDeparture: [() -> Void] = []
    /// The time at which the last ping was sent: the packet in version 3, and the WebSocket Ping or
    /// the POST of the pong in version 4.
    var pingTime: NIODeadline?

    /// - Parameters:
    ///   - url: The server's URL: the scheme (`http`, `https`, `ws` or `wss`), the host and
    ///     optionally the port.
    ///   - memory: The state kept from earlier sessions.
    /// - Throws: `badRequest` for an invalid URL or path; `transportUnknown` if the configuration
    ///   has no transport; `invalidConfiguration` for another invalid setting.
    package init(
        url: String, configuration: EngineIOClientConfiguration, memory: SessionCache = SessionCache(),
        eventLoop: any EventLoop, logger: Logger, delegate: any EngineIOClientDelegate
    ) throws(EngineIOError) {
        try configuration.validate()
        let attempt = configuration.attempt
        var address = try EngineIOClientAddress(url, attempt: attempt, version: configuration.version)
        let remembered = configuration.rememberUpgrade ? memory.lastUpgrade : nil
        self.plan = try EngineIOTransportPlan(
            transports: configuration.transports, upgrades: configuration.upgrade,
            triesAll: configuration.tryAllTransports, preferred: remembered?.transport)
        // Over WebSocket, the version is detected only after the session has opened; use the
        // version of an earlier session.
        if configuration.version == .automatic, let known = memory.recognizedVersion ?? remembered?.version { address.version = known }
        self.session = self.plan.session
        self.version = address.version
        self.packets = EngineIOPacketCodec(version: address.version)
        self.payloads = EngineIOPayloadCodec(version: address.version, maximumPackets: Self.maximumPackets)
        self.outbox = EngineIOClientOutbox(maximumBytes: configuration.maximumQueuedBytes, codec: self.packets)
        self.polling = EngineIOClientPollingTransport(eventLoop: eventLoop, origin: address.origin, configuration: configuration)
        self.url = url
        self.attempt = attempt
        self.address = address
        self.memory = memory
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.logger = logger
        self.delegate = delegate
    }

    /// The transport of the session; `nil` before the session opens, while an upgrade changes the
    /// transport, and after the session closes.
    package var transport: EngineIOTransport? { self.session.outboundTransport }

    /// Whether a message sent now is written without waiting in the queue.
    package var isWritable: Bool {
        guard self.outbox.isEmpty else { return false }
        switch self.session.outboundTransport {
        case .polling: return !self.polling.isPostPending
        case .webSocket: return self.webSocket?.isWritable ?? false
        case nil: return false
        }
    }

    // MARK: - Sending

    /// Sends a group of messages without other messages between them. Returns `false` if the queue
    /// is full or the session is closed.
    ///
    /// - Parameter compresses: Whether the messages may be compressed on a WebSocket that
    ///   negotiated compression.
    package func send(_ messages: [EngineIOMessage], compresses: Bool = true) -> Bool {
        self.eventLoop.preconditionInEventLoop()
        guard !self.session.isClosed, self.outbox.append(messages.map { .message($0) }, compresses: compresses) else { return false }
        self.scheduleFlush()
        return true
    }

    /// Schedules one flush for all packets of this turn: one POST, or one write to the WebSocket.
    private func scheduleFlush() {
        guard !self.flushIsScheduled else { return }
        self.flushIsScheduled = true
        self.eventLoop.assumeIsolated().execute {
            self.flushIsScheduled = false
            self.flush()
        }
    }

    func flush() {
        switch self.session.outboundTransport {
        case .polling: self.post()
        case .webSocket: self.flushOutbox()
        case nil: break  // queued until the session is open or its upgrade is complete
        }
    }

    // MARK: - Packets in

    func receivedPacket(_ packet: EngineIOPacket, over transport: EngineIOTransport) {
        switch self.session.receivedPacket(packet, over: transport) {
        case .opened(let handshake, let probe):
            self.opened(handshake, probe: probe)
        case .deliver(let message):
            self.delegate?.engine(self, received: message)
        case .receivedPing(let payload):
            if case .restartTimer(let delay)? = self.heartbeat?.receivedPing() { self.startHeartbeatTimer(after: delay) }
            self.outbox.replacePong(payload)
            self.scheduleFlush()
            self.delegate?.engine(self, happened: .ping)
            self.delegate?.engine(self, happened: .pong(roundTrip: nil))
            // A pong has no answer. Measure the round trip with a WebSocket Ping, or over polling
            // with the response to the POST.
            switch transport {
            case .webSocket: self.sendWebSocketPing()
            case .polling: break
            }
        case .receivedPong:
            if case .restartTimer(let delay)? = self.heartbeat?.receivedPong() { self.startHeartbeatTimer(after: delay) }
            let roundTrip = self.takeRoundTrip()
            self.delegate?.engine(self, happened: .pong(roundTrip: roundTrip))
        case .pausePolling:
            self.completeUpgradeIfSilent()
        case .close(let error):
            self.end(error)
        case .abandonProbe(let probed):
            self.abandonProbe(
                of: probed, EngineIOError(.malformedPacket, message: "the server did not answer the packet `2probe` with `3probe`"))
        case .doNothing: break
        }
    }

    /// Reports the round-trip time in version 4, when the server has received this side's pong.
    func pongArrived() {
        if let roundTrip = self.takeRoundTrip() { self.delegate?.engine(self, happened: .roundTrip(roundTrip)) }
    }

    private func takeRoundTrip() -> Duration? {
        self.pingTime.take().map { .nanoseconds((NIODeadline.now() - $0).nanoseconds) }
    }

    func startHeartbeatTimer(after delay: Duration) {
        self.heartbeatTimer?.cancel()
        guard !self.session.isClosed else { return }
        self.heartbeatTimer = self.schedule(in: delay) { connection in
            switch connection.heartbeat?.timerFired() {
            case .sendPing(let delay):
                connection.outbox.appendControl(.ping)
                connection.scheduleFlush()
                connection.startHeartbeatTimer(after: delay)
                connection.pingTime = .now()
                connection.delegate?.engine(connection, happened: .ping)
            case .closeSession:
                connection.finish(EngineIOError(.heartbeatTimeout, message: "the server sent no ping or pong within \(delay)"))
            case .doNothing, nil: break
            }
        }
    }

    func schedule(in delay: Duration, _ body: @escaping (EngineIOClientConnection) -> Void) -> Scheduled<Void> {
        self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
            if let self { body(self) }
        }
    }
}

@available(*, unavailable)
extension EngineIOClientConnection: Sendable {}
