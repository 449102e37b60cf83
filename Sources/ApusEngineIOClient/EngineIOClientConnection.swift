import ApusConnectivity
package import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
package import Logging
package import NIOCore
import NIOHTTP1

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
    /// Polls wait at the server for up to a ping's interval; the deadline leaves room for the way.
    private static let pollSlack = Duration.seconds(10)
    private static let longestPoll = Duration.seconds(600)

    package let eventLoop: any EventLoop
    let configuration: EngineIOClientConfiguration
    private let logger: Logger
    private var address: EngineIOClientAddress
    private let polling: EngineIOPollingTransport
    private weak var delegate: (any EngineIOClientDelegate)?

    /// What is spoken; an automatic choice is made when the session opens.
    package private(set) var version: EngineIOVersion
    private var packets: EngineIOPacketCodec
    private var payloads: EngineIOPayloadCodec
    /// A server may answer a poll with everything it has; the bound on the body bounds the work.
    private static let maximumPackets = 65_536
    private let startsOn: EngineIOClientSession.Carrier
    private var session: EngineIOClientSession
    private var outbox: EngineIOClientOutbox
    private var handshake: EngineIOHandshake?

    private var webSocket: WebSocketHandler?
    private var webSocketDelegate: EngineIOWebSocketDelegate?
    private var getIsOut = false
    private var postIsOut = false
    private var heartbeat: EngineIOHeartbeat?
    private var heartbeatTimer: Scheduled<Void>?
    private var openTimer: Scheduled<Void>?
    private var probeTimer: Scheduled<Void>?
    private var flushIsScheduled = false
    /// The session is over for us, and what waits (our close at the end of it) still goes out.
    private var isSayingGoodbye = false
    /// Who wants to know when the last byte of ours has left.
    private var waitsForDeparture: [() -> Void] = []
    /// When our ping of version 3 went out.
    private var pingTime: NIODeadline?

    package init(
        url: String, configuration: EngineIOClientConfiguration, eventLoop: any EventLoop, logger: Logger,
        delegate: any EngineIOClientDelegate
    ) throws(EngineIOError) {
        self.address = try EngineIOClientAddress(url, configuration: configuration)
        let transports = configuration.transports
        guard let first = transports.first else { throw EngineIOError(.transportUnknown, message: "the configuration names no transport") }
        self.startsOn = first == .polling ? .polling : .webSocket
        self.session = EngineIOClientSession(startingOn: self.startsOn, upgrades: transports.contains(.websocket))
        self.version = self.address.version
        self.packets = EngineIOPacketCodec(version: self.version)
        self.payloads = EngineIOPayloadCodec(version: self.version, maximumPackets: Self.maximumPackets)
        self.outbox = EngineIOClientOutbox(maximumBytes: configuration.maximumQueuedBytes, codec: self.packets)
        self.polling = EngineIOPollingTransport(eventLoop: eventLoop, origin: self.address.origin, configuration: configuration)
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
        case .polling: return !self.postIsOut
        case .webSocket: return self.webSocket?.isWritable ?? false
        case nil: return false
        }
    }

    /// Begins. Call once.
    package func start() {
        self.eventLoop.preconditionInEventLoop()
        self.openTimer = self.schedule(in: self.configuration.timeout) { connection in
            connection.finish(EngineIOError(.timeout, message: "no session within \(connection.configuration.timeout)"))
        }
        self.askForSession()
    }

    private func askForSession() {
        switch self.startsOn {
        case .polling: self.poll()
        case .webSocket: self.openWebSocket(sid: nil)
        }
    }

    /// Sends a group of messages that must stay together; false when the queue is full or the session over.
    package func send(_ messages: [EngineIOMessage]) -> Bool {
        self.eventLoop.preconditionInEventLoop()
        guard !self.session.isClosed, self.outbox.append(messages.map { .message($0) }) else { return false }
        self.scheduleFlush()
        return true
    }

    /// Ends the session in order: what waits is sent first, as far as the transport takes it.
    ///
    /// - Parameters:
    ///   - error: What the delegate is told.
    ///   - departed: Called once, when all of it has left and the connection is closed, or cannot leave any more.
    package func close(
        _ error: EngineIOError = EngineIOError(.closed, message: "closed by this side"), departed: (() -> Void)? = nil
    ) {
        self.eventLoop.preconditionInEventLoop()
        if let departed { self.waitsForDeparture.append(departed) }
        let channel = self.webSocket?.channel
        switch self.session.close() {
        case .sendClose(let carrier):
            self.outbox.appendControl(.close)
            self.isSayingGoodbye = true
            switch carrier {
            case .polling: self.post()
            case .webSocket: while let packet = self.outbox.popFirst() { self.write(packet) }
            }
            self.end(error)
        case .abort: self.end(error)
        case .doNothing: break
        }
        // Over polling the end of the last POST tells.
        if !self.isSayingGoodbye || !self.postIsOut { self.tellDeparture(after: channel?.closeFuture) }
    }

    private func tellDeparture(after closing: EventLoopFuture<Void>?) {
        let waiting = self.waitsForDeparture
        self.waitsForDeparture = []
        guard let closing, !waiting.isEmpty else { return waiting.forEach { $0() } }
        closing.assumeIsolated().whenComplete { _ in waiting.forEach { $0() } }
    }

    // MARK: - Packets in

    private func received(_ packet: EngineIOPacket, over carrier: EngineIOClientSession.Carrier) {
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
        case .receivedPong:
            if case .restartTimer(let delay)? = self.heartbeat?.receivedPong() { self.startHeartbeatTimer(after: delay) }
            let roundTrip = self.pingTime.map { Duration.nanoseconds((NIODeadline.now() - $0).nanoseconds) }
            self.pingTime = nil
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

    private func opened(_ handshake: EngineIOHandshake, probe: Bool) {
        self.logger.debug(
            "Session opened", metadata: ["engineio.transport": "\(self.startsOn)", "engineio.version": "\(self.version.number)"])
        self.openTimer?.cancel()
        self.handshake = handshake
        let heartbeat = handshake.clientHeartbeat(self.version)
        self.heartbeat = heartbeat
        self.startHeartbeatTimer(after: heartbeat.firstTimer)
        self.delegate?.engineOpened(self, handshake: handshake)
        guard probe, !self.session.isClosed else { return }
        self.openWebSocket(sid: handshake.sid)
        self.probeTimer = self.schedule(in: self.configuration.timeout) { connection in
            guard connection.session.outboundCarrier != .webSocket else { return }
            connection.webSocketEnded(EngineIOError(.timeout, message: "the upgrade took longer than \(connection.configuration.timeout)"))
        }
    }

    private func startHeartbeatTimer(after delay: Duration) {
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

    // MARK: - Polling

    private func poll() {
        guard !self.getIsOut else { return }
        self.getIsOut = true
        // Bounded, whatever the server announced: each poll holds a connection.
        let timeout =
            self.handshake.map { min($0.pingInterval + $0.pingTimeout, Self.longestPoll) + Self.pollSlack }
            ?? max(self.configuration.timeout, .seconds(60))
        self.polling.send(.GET, to: self.address.polling(sid: self.handshake?.sid), body: nil, timeout: timeout) { result in
            self.getIsOut = false
            self.polled(result)
        }
    }

    private func polled(_ result: Result<EngineIOPayload, EngineIOError>) {
        do throws(EngineIOError) {
            let payload = try result.get()
            if self.handshake == nil, self.configuration.version == .automatic { self.speak(payload.versionOfFirstAnswer) }
            for packet in try self.payloads.decode(payload) { self.received(packet, over: .polling) }
        } catch {
            self.failed(.polling, error)
            return
        }
        if self.session.mayPoll { self.poll() } else { self.reportSilence() }
    }

    /// Whether the server may want the older version: it refused the first request and we may choose. Asks again if so.
    private func triesOlderVersion(after error: EngineIOError) -> Bool {
        guard self.handshake == nil, self.configuration.version == .automatic, self.version == .v4, !self.session.isClosed,
            error.code == .unsupportedVersion || error.code == .badRequest
        else { return false }
        self.speak(.v3)
        self.askForSession()
        return true
    }

    private func speak(_ version: EngineIOVersion) {
        self.version = version
        self.address.version = version
        self.packets = EngineIOPacketCodec(version: version)
        self.payloads = EngineIOPayloadCodec(version: version, maximumPackets: Self.maximumPackets)
    }

    private func post() {
        guard !self.postIsOut, !self.outbox.isEmpty else { return }
        let maximum = self.handshake?.maxPayload ?? 0
        let batch = self.outbox.takeBatch(maximumBytes: maximum > 0 ? maximum : 1_000_000)
        self.postIsOut = true
        self.polling.send(
            .POST, to: self.address.polling(sid: self.handshake?.sid), body: self.payloads.encode(batch),
            timeout: self.configuration.timeout
        ) { result in
            self.postIsOut = false
            guard !self.session.isClosed else { return self.saidGoodbye(result) }
            // The answer's text is not looked at: `ok` from Node, `OK` from python.
            if case .failure(let error) = result { return self.failed(.polling, error) }
            self.flush()
            self.reportSilence()
        }
    }

    /// A POST ended after the session's end: the rest goes out, then the poll that still waits is given up.
    private func saidGoodbye(_ result: Result<EngineIOPayload, EngineIOError>) {
        if case .success = result, self.isSayingGoodbye, !self.outbox.isEmpty { return self.post() }
        self.polling.cancel()
        self.tellDeparture(after: nil)
    }

    private func reportSilence() {
        guard !self.getIsOut, !self.postIsOut else { return }
        guard case .sendUpgrade = self.session.pollingIsSilent() else { return }
        self.logger.debug("Session upgraded to WebSocket")
        self.probeTimer?.cancel()
        self.write(.upgrade)
        self.flush()
        self.delegate?.engine(self, happened: .upgrade)
    }

    // MARK: - WebSocket

    private func openWebSocket(sid: String?) {
        let delegate = EngineIOWebSocketDelegate(connection: self)
        self.webSocketDelegate = delegate
        var limits = WebSocketLimits(maximumMessageBytes: self.configuration.maximumMessageBytes)
        limits.closeTimeout = .seconds(2)
        let headers = self.configuration.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        let url: WebSocketURL
        do throws(WebSocketError) { url = try WebSocketURL(self.address.webSocket(sid: sid)) } catch {
            return self.webSocketEnded(Self.engineError(error))
        }
        WebSocketClientConnector.attempt(
            url, headers: headers, through: self.configuration.dialer,
            target: self.configuration.unixSocketPath.map { .unixSocket(path: $0) }, limits: limits,
            timeout: self.configuration.timeout, handshakeTimeout: nil, on: self.eventLoop
        ) { _ in delegate }.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success(let handler):
                guard self.webSocketDelegate === delegate, !self.session.isClosed else { return handler.abort() }
                self.webSocketOpened(handler, isProbe: sid != nil)
            case .failure(let error):
                guard self.webSocketDelegate === delegate else { return }
                self.webSocketEnded(Self.engineError(error))
            }
        }
    }

    private func webSocketOpened(_ handler: WebSocketHandler, isProbe: Bool) {
        self.webSocket = handler
        if isProbe { self.write(.probePing) }
        self.flush()
    }

    func webSocketReceived(_ message: WebSocketMessage) {
        do throws(EngineIOError) {
            switch message.kind {
            case .text: self.received(try self.packets.decode(.text(message.payload)), over: .webSocket)
            case .binary: self.received(try self.packets.decode(.binary(message.payload)), over: .webSocket)
            }
        } catch {
            // On a probe it is the probe that is over.
            if self.session.isProbing { self.webSocketEnded(error) } else { self.finish(error) }
        }
    }

    func webSocketWritable() {
        self.flush()
    }

    func webSocketEnded(_ error: EngineIOError) {
        self.dropWebSocket()
        self.failed(.webSocket, error)
    }

    private func dropWebSocket() {
        self.probeTimer?.cancel()
        self.webSocketDelegate?.connection = nil
        self.webSocketDelegate = nil
        self.webSocket?.close(code: .normalClosure, reason: "")
        self.webSocket = nil
    }

    static func engineError(_ error: any Error) -> EngineIOError {
        guard let error = error as? WebSocketError else {
            return EngineIOError(.transportError, message: "the WebSocket failed", cause: error)
        }
        if let refusal = error.refusal { return EngineIOHTTPRefusal.error(status: refusal.status, body: refusal.body) }
        return EngineIOError(
            error.code == .timeout ? .timeout : .transportError, message: "the WebSocket failed: \(error.message)", cause: error)
    }

    // MARK: - Packets out

    /// Packets of one turn leave together: in one POST, or in one write of the WebSocket.
    private func scheduleFlush() {
        guard !self.flushIsScheduled else { return }
        self.flushIsScheduled = true
        self.eventLoop.assumeIsolated().execute {
            self.flushIsScheduled = false
            self.flush()
        }
    }

    private func flush() {
        switch self.session.outboundCarrier {
        case .polling:
            self.post()
        case .webSocket:
            guard let webSocket = self.webSocket else { return }
            while webSocket.isWritable, let packet = self.outbox.popFirst() { self.write(packet) }
        case nil: break  // kept until the upgrade is done
        }
    }

    private func write(_ packet: EngineIOPacket) {
        switch self.packets.webSocketFrame(for: packet) {
        case .text(let text): self.webSocket?.send(WebSocketMessage(.text, text))
        case .binary(let bytes): self.webSocket?.send(WebSocketMessage(.binary, bytes))
        }
    }

    // MARK: - The end

    private func failed(_ carrier: EngineIOClientSession.Carrier, _ error: EngineIOError) {
        guard !self.triesOlderVersion(after: error) else { return }
        switch self.session.failed(carrier, error) {
        case .close(let error): self.end(error)
        case .resumePolling:
            self.logger.debug("Upgrade failed, staying on polling", metadata: ["error": "\(error)"])
            self.dropWebSocket()
            self.poll()
            self.flush()
            self.delegate?.engine(self, happened: .upgradeError(error))
        case .doNothing: break
        }
    }

    /// Ends the session for this reason, if it is not over.
    private func finish(_ error: EngineIOError) {
        switch self.session.close() {
        case .sendClose, .abort: self.end(error)
        case .doNothing: break
        }
    }

    private func end(_ error: EngineIOError) {
        self.logger.debug("Session closed", metadata: ["engineio.reason": "\(error)"])
        for timer in [self.heartbeatTimer, self.openTimer, self.probeTimer] { timer?.cancel() }
        self.dropWebSocket()
        // A last POST (our close) may finish; then, or now, the poll is given up.
        if !self.postIsOut || !self.isSayingGoodbye { self.polling.cancel() }
        let delegate = self.delegate
        self.delegate = nil
        delegate?.engineClosed(self, error: error)
    }

    private func schedule(in delay: Duration, _ body: @escaping (EngineIOClientConnection) -> Void) -> Scheduled<Void> {
        self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in
            if let self { body(self) }
        }
    }
}

@available(*, unavailable)
extension EngineIOClientConnection: Sendable {}
