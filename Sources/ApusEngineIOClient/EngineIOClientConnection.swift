package import ApusEngineIOProtocol
import ApusWebSocket
package import Logging
package import NIOCore

/// What hears an ``EngineIOClientConnection``. All calls come on its event loop.
package protocol EngineIOClientDelegate: AnyObject {
    /// The session stands.
    func engineOpened(_ connection: EngineIOClientConnection, handshake: EngineIOHandshake)
    /// A message came.
    func engine(_ connection: EngineIOClientConnection, received message: EngineIOMessage)
    /// Something happened beside the messages. The default does nothing.
    func engine(_ connection: EngineIOClientConnection, happened event: EngineIOClientEvent)
    /// The session is over: exactly once, the last call.
    func engineClosed(_ connection: EngineIOClientConnection, error: EngineIOError)
}

extension EngineIOClientDelegate {
    package func engine(_ connection: EngineIOClientConnection, happened event: EngineIOClientEvent) {}
}

/// One Engine.IO session of a client, from its first request to its end. A new attempt is a new connection.
///
/// The shell of ``EngineIOClientSession``: carries out what the machine says. Confined to its event loop.
package final class EngineIOClientConnection {
    package let eventLoop: any EventLoop
    let configuration: EngineIOClientConfiguration
    let logger: Logger
    let memory: SessionCache
    let url: String
    /// Of the present attempt.
    var attempt: EngineIOClientConfiguration.Attempt
    var address: EngineIOClientAddress
    var polling: EngineIOPollingTransport
    weak var delegate: (any EngineIOClientDelegate)?

    /// What is spoken; an automatic choice is made when the session opens.
    package internal(set) var version: EngineIOVersion
    var packets: EngineIOPacketCodec
    var payloads: EngineIOPayloadCodec
    /// A server may answer a poll with everything it has; the bound on the body bounds the work.
    static let maximumPackets = 65_536
    var plan: EngineIOTransportPlan
    var session: EngineIOClientSession
    var outbox: EngineIOClientOutbox
    var handshake: EngineIOHandshake?

    var webSocket: WebSocketHandler?
    var webSocketDelegate: EngineIOWebSocketDelegate?
    var heartbeat: EngineIOHeartbeat?
    var heartbeatTimer: Scheduled<Void>?
    var openTimer: Scheduled<Void>?
    var probeTimer: Scheduled<Void>?
    private var flushIsScheduled = false
    var preparation: Task<Void, Never>?
    /// The session is over for us, and what waits (our close at the end of it) still goes out.
    var isSayingGoodbye = false
    /// Who wants to know when the last byte of ours has left.
    var waitsForDeparture: [() -> Void] = []
    /// When our last ping went out: version 3's own, in version 4 that of the WebSocket.
    var pingTime: NIODeadline?

    /// - Parameters:
    ///   - url: `http`, `https`, `ws` or `wss`, host and port.
    ///   - memory: What is kept from the session before this one.
    package init(
        url: String, configuration: EngineIOClientConfiguration, memory: SessionCache = SessionCache(),
        eventLoop: any EventLoop, logger: Logger, delegate: any EngineIOClientDelegate
    ) throws(EngineIOError) {
        let attempt = configuration.attempt
        var address = try EngineIOClientAddress(url, attempt: attempt, version: configuration.version)
        let remembered = configuration.rememberUpgrade ? memory.webSocketVersion : nil
        self.plan = try EngineIOTransportPlan(
            transports: configuration.transports.map { $0 == .polling ? .polling : .webSocket }, upgrades: configuration.upgrade,
            triesAll: configuration.tryAllTransports, prefersWebSocket: remembered != nil)
        // On WebSocket the version cannot be found out before the session stands, but it was.
        if configuration.version == .automatic, let known = memory.recognizedVersion ?? remembered { address.version = known }
        self.session = self.plan.session
        self.version = address.version
        self.packets = EngineIOPacketCodec(version: address.version)
        self.payloads = EngineIOPayloadCodec(version: address.version, maximumPackets: Self.maximumPackets)
        self.outbox = EngineIOClientOutbox(maximumBytes: configuration.maximumQueuedBytes, codec: self.packets)
        self.polling = EngineIOPollingTransport(eventLoop: eventLoop, origin: address.origin, configuration: configuration)
        self.url = url
        self.attempt = attempt
        self.address = address
        self.memory = memory
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.logger = logger
        self.delegate = delegate
    }

    /// What carries the session; nil while an upgrade changes over, before the opening and after the end.
    package var carrier: EngineIOClientSession.Carrier? { self.session.outboundCarrier }

    /// Whether what is sent now leaves at once.
    package var isWritable: Bool {
        guard self.outbox.isEmpty else { return false }
        switch self.session.outboundCarrier {
        case .polling: return !self.polling.postIsOut
        case .webSocket: return self.webSocket?.isWritable ?? false
        case nil: return false
        }
    }

    // MARK: - Sending

    /// Sends a group of messages that must stay together; false when the queue is full or the session over.
    ///
    /// - Parameter compresses: Whether a WebSocket that agreed to compression may compress them, from its threshold on.
    package func send(_ messages: [EngineIOMessage], compresses: Bool = true) -> Bool {
        self.eventLoop.preconditionInEventLoop()
        guard !self.session.isClosed, self.outbox.append(messages.map { .message($0) }, compresses: compresses) else { return false }
        self.scheduleFlush()
        return true
    }

    /// Packets of one turn leave together: in one POST, or in one write of the WebSocket.
    private func scheduleFlush() {
        guard !self.flushIsScheduled else { return }
        self.flushIsScheduled = true
        self.eventLoop.assumeIsolated().execute {
            self.flushIsScheduled = false
            self.flush()
        }
    }

    func flush() {
        switch self.session.outboundCarrier {
        case .polling: self.post()
        case .webSocket: self.writeWhatWaits()
        case nil: break  // kept until the upgrade is done
        }
    }

    // MARK: - Packets in

    func received(_ packet: EngineIOPacket, over carrier: EngineIOClientSession.Carrier) {
        switch self.session.received(packet, over: carrier) {
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
            // Nobody answers our pong: over a WebSocket its own ping behind it tells the time, over polling the answer to the POST.
            if carrier == .webSocket { self.sendWebSocketPing() }
        case .receivedPong:
            if case .restartTimer(let delay)? = self.heartbeat?.receivedPong() { self.startHeartbeatTimer(after: delay) }
            let roundTrip = self.takeRoundTrip()
            self.delegate?.engine(self, happened: .pong(roundTrip: roundTrip))
        case .pausePolling:
            self.reportSilence()
        case .close(let error):
            self.end(error)
        case .abandonProbe:
            self.dropWebSocket()
            let error = EngineIOError(.malformedPacket, message: "the server did not answer the probe of the WebSocket with one")
            self.delegate?.engine(self, happened: .upgradeError(error))
        case .doNothing: break
        }
    }

    /// The server has heard our side of version 4's heartbeat.
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
                connection.finish(EngineIOError(.heartbeatTimeout, message: "nothing was heard from the server for \(delay)"))
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
