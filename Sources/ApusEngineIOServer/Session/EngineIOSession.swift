package import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import Atomics
package import HTTPTypes
import Logging
package import NIOCore

/// Hears what happens to a session. Every call is on the session's event loop.
package protocol EngineIOSessionDelegate: AnyObject {
    /// The client was sent the open packet. Called once, before anything else.
    func sessionOpened(_ session: EngineIOSession)
    func session(_ session: EngineIOSession, received message: EngineIOMessage)
    /// Called once; nothing follows.
    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason)
}

/// The shell around `EngineIOServerSession` and `EngineIOHeartbeat`: timers, the held poll and the WebSocket.
///
/// `@unchecked Sendable`: every mutable property is touched on `eventLoop` only; each method asserts it.
package final class EngineIOSession: @unchecked Sendable {
    package let id: String
    /// What the client speaks.
    package let version: EngineIOVersion
    /// The request of the handshake.
    package let request: HTTPRequest
    package let remoteAddress: SocketAddress?
    package let eventLoop: any EventLoop

    private let server: EngineIOServer
    private let codec: EngineIOPacketCodec
    private let payloadCodec: EngineIOPayloadCodec
    /// A version 3 client that cannot take binary data says so with `b64=1`.
    private let allowsBinary: Bool

    private var machine: EngineIOServerSession
    private var heartbeat: EngineIOHeartbeat
    private var heartbeatTimer: Scheduled<Void>?
    private var upgradeTimer: RepeatedTask?
    private var upgradeDeadline: Scheduled<Void>?
    private var heldPoll: EngineIOResponder?
    /// Ends the wait for the poll that takes what a closed session has left to say.
    private var farewellTimer: Scheduled<Void>?
    /// Set by the handler that reads a POST, on whatever event loop that is.
    private let postIsRunning = ManagedAtomic(false)
    private var webSocket: EngineIOWebSocketTransport?
    private var delegate: (any EngineIOSessionDelegate)?
    private var closeReason: EngineIOCloseReason?

    init(
        id: String, version: EngineIOVersion, transport: EngineIOTransport, request: HTTPRequest,
        remoteAddress: SocketAddress?, server: EngineIOServer, eventLoop: any EventLoop
    ) {
        self.id = id
        self.version = version
        self.codec = EngineIOPacketCodec(version: version)
        self.allowsBinary = version.payloadFraming == .separated || request.query["b64"] == nil
        self.request = request
        self.remoteAddress = remoteAddress
        self.server = server
        self.eventLoop = eventLoop
        let configuration = server.configuration
        self.payloadCodec = EngineIOPayloadCodec(version: version, maximumPackets: configuration.maximumPacketsPerPayload)
        self.machine = EngineIOServerSession(
            version: version, transport: transport, maximumQueuedBytes: configuration.maximumQueuedBytes,
            maximumPacketsPerAnswer: configuration.maximumPacketsPerAnswer)
        self.heartbeat = EngineIOHeartbeat(
            sendsPings: version.heartbeatSender == .server, pingInterval: configuration.pingInterval, pingTimeout: configuration.pingTimeout
        )
    }

    func start(delegate: any EngineIOSessionDelegate) {
        self.eventLoop.assertInEventLoop()
        self.delegate = delegate
        self.startHeartbeatTimer(after: self.heartbeat.firstTimer)
    }

    // MARK: For the layer above

    package var isClosed: Bool { self.machine.isClosed }

    /// The transport in use: `polling` or `websocket`; `nil` once closed.
    package var transportName: String? { self.machine.transport?.rawValue }

    /// Whether a packet written now would go out at once; volatile packets are dropped when not.
    package var isWritable: Bool {
        switch self.machine.transport {
        case .webSocket: self.webSocket?.isWritable ?? false
        case .polling: self.heldPoll != nil
        case nil: false
        }
    }

    /// Sends a message. `frame` is the same message as an encoded WebSocket frame, when many sessions share it.
    package func send(_ message: EngineIOMessage, frame: ByteBuffer? = nil) {
        // Text is the same in every version; a binary frame made for many is version 4's.
        if case .binary = message, self.version != .v4 { return self.send(.message(message), frame: nil) }
        self.send(.message(message), frame: frame)
    }

    /// The whole WebSocket frame of a message, for `send(_:frame:)` to many sessions.
    package static func webSocketFrame(for message: EngineIOMessage) -> ByteBuffer {
        switch EngineIOPacketCodec(version: .v4).webSocketFrame(for: .message(message)) {
        case .text(let bytes): WebSocketHandler.encodeServerFrame(WebSocketMessage(.text, bytes))
        case .binary(let bytes): WebSocketHandler.encodeServerFrame(WebSocketMessage(.binary, bytes))
        }
    }

    /// Ends the session and tells the client.
    package func close(_ reason: EngineIOCloseReason) {
        self.eventLoop.assertInEventLoop()
        guard !self.machine.isClosed else { return }
        guard reason == .forcedClose || reason == .serverShuttingDown else {
            return self.finish(reason, answerHeldPoll: self.machine.close() ? [.close] : [])
        }
        switch self.machine.closeInOrder() {
        case .answerHeldPoll(let packets): self.finish(reason, answerHeldPoll: packets)
        case .waitForPoll, .done: self.finish(reason, answerHeldPoll: [])
        }
    }

    // MARK: Polling

    /// A GET for this session; `responder` is answered now or when there is something to say.
    func receivedPoll(_ responder: EngineIOResponder) {
        self.eventLoop.assertInEventLoop()
        switch self.machine.receivedPoll() {
        case .respond(let packets):
            self.answer(responder, packets)
            self.forgetUnlessFarewell()
        case .hold: self.heldPoll = responder
        case .refuse(let reason, let packets):
            responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
            if let reason { self.finish(reason, answerHeldPoll: packets) }
        }
    }

    /// The first answer of a polling session: the open packet.
    func respondWithOpenPacket(_ responder: EngineIOResponder) {
        self.answer(responder, [self.openPacket(isUpgradable: self.server.configuration.allowsUpgrades)])
        self.delegate?.sessionOpened(self)
    }

    func pollConnectionClosed(_ responder: EngineIOResponder) {
        guard self.heldPoll === responder else { return }
        self.heldPoll = nil
        if let reason = self.machine.heldPollClosed() { self.finish(reason, answerHeldPoll: []) }
    }

    /// A POST's head arrived. `false` while another POST is being read: overlapping POSTs end the session.
    func beginPost() -> Bool { !self.postIsRunning.exchange(true, ordering: .acquiringAndReleasing) }

    func endPost() { self.postIsRunning.store(false, ordering: .releasing) }

    func receivedOverlappingPost(_ responder: EngineIOResponder) {
        self.eventLoop.assertInEventLoop()
        responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
        self.finish(.transportError, answerHeldPoll: self.machine.close() ? [.close] : [])
    }

    /// A POST for this session, whole.
    func receivedPost(_ body: EngineIOPayload, responder: EngineIOResponder) {
        self.eventLoop.assertInEventLoop()
        guard self.machine.transport == .polling else {
            return responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
        }
        do {
            for packet in try self.payloadCodec.decode(body) where !self.machine.isClosed {
                self.received(packet)
            }
            // A packet that ended the session by its nonsense is no good request either.
            if self.closeReason == .parseError {
                responder.refuse(EngineIOError(.badRequest, message: "Bad request"))
            } else {
                responder.respondOK()
            }
        } catch {
            // The reference answers `ok` and then closes; a client deserves to be told.
            responder.refuse(error)
            self.finish(.parseError, answerHeldPoll: self.machine.close() ? [.close] : [])
        }
    }

    // MARK: WebSocket

    /// The session began on this WebSocket.
    func opened(on webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        self.webSocket = webSocket
        self.write(self.openPacket(isUpgradable: false), to: webSocket)
        self.delegate?.sessionOpened(self)
    }

    /// A WebSocket with this session's id was opened.
    func probeOpened(_ webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        guard self.server.configuration.allowsUpgrades, self.machine.probeOpened() else { return webSocket.close(.normalClosure) }
        self.webSocket = webSocket
        self.upgradeDeadline = self.eventLoop.scheduleTask(in: TimeAmount(self.server.configuration.upgradeTimeout)) {
            self.endProbe(close: webSocket)
        }
    }

    func received(_ frame: EngineIOMessage, on webSocket: EngineIOWebSocketTransport) {
        self.eventLoop.assertInEventLoop()
        guard self.webSocket === webSocket else { return }  // a probe that lost; its close is on the way
        do {
            let packet = try self.codec.decode(frame)
            if self.machine.transport == .webSocket {
                self.received(packet)
            } else {
                self.receivedOnProbe(packet, webSocket)
            }
        } catch {
            if self.machine.transport == .webSocket {
                self.finish(.parseError, answerHeldPoll: self.machine.close() ? [.close] : [])
            } else {
                self.endProbe(close: webSocket)
            }
        }
    }

    func webSocketClosed(_ webSocket: EngineIOWebSocketTransport, isClean: Bool) {
        self.eventLoop.assertInEventLoop()
        guard self.webSocket === webSocket else { return }
        self.webSocket = nil
        if self.machine.transport == .webSocket {
            _ = self.machine.close()
            self.finish(isClean ? .transportClose : .transportError, answerHeldPoll: [])
        } else {
            self.endProbe(close: nil)
        }
    }

    private func receivedOnProbe(_ packet: EngineIOPacket, _ webSocket: EngineIOWebSocketTransport) {
        switch self.machine.receivedOnProbe(packet) {
        case .answerProbe(let noopToHeldPoll):
            self.write(.probePong, to: webSocket)
            if noopToHeldPoll { self.answerHeldPoll([.noop]) }
            // Once is not enough: a client that polls again before it pauses would hang.
            self.upgradeTimer = self.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(100), delay: .milliseconds(100)) { _ in
                if self.machine.upgradeTimerFired() { self.answerHeldPoll([.noop]) }
            }
        case .completeUpgrade(let packets, let noopToHeldPoll):
            self.cancelUpgradeTimers()
            if noopToHeldPoll { self.answerHeldPoll([.noop]) }
            for packet in packets { self.write(packet, to: webSocket) }
        case .closeProbe: self.endProbe(close: webSocket)
        }
    }

    private func endProbe(close webSocket: EngineIOWebSocketTransport?) {
        self.cancelUpgradeTimers()
        self.machine.probeClosed()
        self.webSocket = nil
        webSocket?.close(.normalClosure)
    }

    private func cancelUpgradeTimers() {
        self.upgradeTimer?.cancel()
        self.upgradeTimer = nil
        self.upgradeDeadline?.cancel()
        self.upgradeDeadline = nil
    }

    // MARK: Packets

    private func received(_ packet: EngineIOPacket) {
        switch self.machine.received(packet) {
        case .deliver(let message): self.delegate?.session(self, received: message)
        case .receivedPong:
            if case .restartTimer(let delay) = self.heartbeat.receivedPong() { self.startHeartbeatTimer(after: delay) }
        case .receivedPing(let payload):
            self.send(.pong(payload), frame: nil)
            if case .restartTimer(let delay) = self.heartbeat.receivedPing() { self.startHeartbeatTimer(after: delay) }
        case .closeSession(let reason, let packets): self.finish(reason, answerHeldPoll: packets)
        case .ignore: break
        }
    }

    private func send(_ packet: EngineIOPacket, frame: ByteBuffer?) {
        self.eventLoop.assertInEventLoop()
        switch self.machine.send(packet) {
        case .writeToWebSocket:
            guard let webSocket = self.webSocket else { return }
            if let frame { webSocket.send(preencoded: frame) } else { self.write(packet, to: webSocket) }
            if webSocket.queuedBytes > self.server.configuration.maximumQueuedBytes {
                self.server.logger.debug("Closing a session that does not read", metadata: ["engineio.sid": "\(self.id)"])
                _ = self.machine.close()
                self.finish(.transportError, answerHeldPoll: [])
            }
        case .answerHeldPoll(let packets): self.answerHeldPollAtEndOfTurn(packets)
        case .queued, .drop: break
        case .closeSession(let reason): self.finish(reason, answerHeldPoll: [])
        }
    }

    /// One emit is often several packets (an event and its attachments): they share the answer.
    private func answerHeldPollAtEndOfTurn(_ packets: [EngineIOPacket]) {
        guard let responder = exchange(&self.heldPoll, with: nil) else { return }
        self.eventLoop.execute {
            self.answer(responder, packets + self.machine.takeQueue(after: packets.count))
            self.forgetUnlessFarewell()
        }
    }

    private func answerHeldPoll(_ packets: [EngineIOPacket]) {
        guard let responder = exchange(&self.heldPoll, with: nil) else { return }
        self.answer(responder, packets)
    }

    private func answer(_ responder: EngineIOResponder, _ packets: [EngineIOPacket]) {
        responder.respond(self.payloadCodec.encode(packets, allowsBinary: self.allowsBinary))
    }

    private func write(_ packet: EngineIOPacket, to webSocket: EngineIOWebSocketTransport) {
        guard self.allowsBinary || !packet.isBinaryMessage else {
            var text = ByteBuffer()
            self.codec.encodeText(packet, into: &text)
            return webSocket.send(.text(text))
        }
        webSocket.send(self.codec.webSocketFrame(for: packet))
    }

    // MARK: Life

    private func startHeartbeatTimer(after delay: Duration) {
        self.startHeartbeatTimer(at: self.eventLoop.now + TimeAmount(delay))
    }

    private func startHeartbeatTimer(at deadline: NIODeadline) {
        self.heartbeatTimer?.cancel()
        self.heartbeatTimer = self.eventLoop.scheduleTask(deadline: deadline) {
            switch self.heartbeat.timerFired() {
            case .sendPing(let delay):
                self.send(.ping(ByteBuffer()), frame: nil)
                // From the time that was planned: lateness does not add up.
                self.startHeartbeatTimer(at: deadline + TimeAmount(delay))
            case .closeSession(let reason):
                self.finish(reason, answerHeldPoll: self.machine.close() ? [.close] : [])
            case .doNothing: break
            }
        }
    }

    /// Lets go of everything. The machine is closed already.
    private func finish(_ reason: EngineIOCloseReason, answerHeldPoll packets: [EngineIOPacket]) {
        guard let delegate = exchange(&self.delegate, with: nil) else { return }
        self.closeReason = reason
        self.heartbeat.stop()
        self.heartbeatTimer?.cancel()
        self.heartbeatTimer = nil
        self.cancelUpgradeTimers()
        if !packets.isEmpty { self.answerHeldPoll(packets) }
        self.heldPoll = nil
        let webSocket = exchange(&self.webSocket, with: nil)
        switch reason {
        case .serverShuttingDown: webSocket?.close(.goingAway)
        case .transportError: webSocket?.abort()
        case .transportClose, .pingTimeout, .parseError, .forcedClose: webSocket?.close(.normalClosure)
        }
        if self.machine.hasFarewell {
            self.server.keepForFarewell(self)
            self.farewellTimer = self.eventLoop.scheduleTask(in: TimeAmount(self.server.configuration.pingTimeout)) {
                _ = self.machine.close()
                self.forgetUnlessFarewell()
            }
        } else {
            self.server.forget(self)
        }
        self.server.logger.debug("Session closed", metadata: ["engineio.sid": "\(self.id)", "engineio.reason": "\(reason)"])
        delegate.session(self, closed: reason)
    }

    /// A closed session stays to be found until its last words are said.
    private func forgetUnlessFarewell() {
        guard self.machine.isClosed, !self.machine.hasFarewell else { return }
        self.farewellTimer?.cancel()
        self.farewellTimer = nil
        self.server.forget(self)
    }

    private func openPacket(isUpgradable: Bool) -> EngineIOPacket {
        let configuration = self.server.configuration
        let upgrades = isUpgradable && configuration.transports.contains(.webSocket) ? ["websocket"] : []
        return .open(
            EngineIOHandshake(
                sid: self.id, upgrades: upgrades, pingInterval: configuration.pingInterval, pingTimeout: configuration.pingTimeout,
                maxPayload: configuration.maximumPayloadBytes))
    }
}
