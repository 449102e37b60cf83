import ApusConnectivity
package import ApusEngineIOProtocol
package import ApusEventLoop
package import ApusWebSocket
package import ApusWebSocketProtocol
package import HTTPTypes
import Logging
package import NIOCore

/// A server session: performs the actions of `EngineIOServerSession` and
/// `EngineIOHeartbeatStateMachine`, with timers and the transports.
///
/// `@unchecked Sendable`: mutable properties are used on `eventLoop` only.
package final class EngineIOSession: @unchecked Sendable {
    package let id: RandomID
    /// The handshake request, rebuilt at each call. Contains its header fields and query only if
    /// the configuration keeps requests.
    package var request: HTTPRequest { self.storedRequest.request }
    package let storedRequest: StoredRequest
    package let remoteAddress: SocketAddress?
    package let eventLoop: any EventLoop

    let server: EngineIOServer
    private let scratch: TextBufferPool
    /// The name under which the client is counted.
    package let addressKey: String?
    // Properties of one byte are adjacent, which saves padding.
    /// The client's protocol version.
    package let version: EngineIOVersion
    /// Whether the handshake request arrived over TLS that this server terminates.
    package let isSecure: Bool
    /// Whether the handshake request has an `Origin` field.
    package let namesOrigin: Bool
    /// Whether the client accepts binary data. A version 3 client refuses it with `b64=1`.
    let allowsBinary: Bool
    var closeReason: EngineIOCloseReason?
    /// Whether messages are deferred to a later turn of the event loop.
    private(set) var isDeferred = false
    var payloadCodec: EngineIOPayloadCodec {
        EngineIOPayloadCodec(version: self.version, maximumPackets: self.server.configuration.maximumPacketsPerPayload)
    }

    /// The variables that every message uses. Exclusivity is unchecked: they are accessed in single
    /// statements, never across a call to another layer.
    @exclusivity(unchecked) var hot: Hot

    struct Hot {
        var machine: EngineIOServerSession
        var delegate: (any EngineIOSessionDelegate)?
        var webSocket: EngineIOWebSocketTransport?
    }

    /// The details of the close, in addition to the reason, for logs.
    package internal(set) var closeDetail: String?
    /// The polling transport; `nil` for a session that did not start on polling.
    let polling: EngineIOPollingTransport?
    /// The timers of an upgrade in progress.
    var upgradeTimers: EngineIOUpgradeTimers?
    /// The timers of the session's event loop.
    package let timers: EventLoopTimers
    /// The account, in the server's budget, of an incomplete packet of the layer above.
    private var unfinished = ByteAccount()
    private var heartbeat: EngineIOHeartbeatStateMachine
    private var heartbeatTimer = EventLoopTimer()
    private var heartbeatTime = NIODeadline.distantFuture

    init(
        id: RandomID, version: EngineIOVersion, transport: EngineIOTransport, request: HTTPRequest, remoteAddress: SocketAddress?,
        addressKey: String?, server: EngineIOServer, timers: EventLoopTimers, scratch: TextBufferPool, eventLoop: any EventLoop
    ) {
        self.id = id
        self.version = version
        self.allowsBinary = version.payloadFraming == .separated || request.query["b64"] == nil
        self.storedRequest = StoredRequest(server.configuration.keepsRequests ? request : request.withoutFieldsAndQuery)
        self.isSecure = request.scheme == "https"
        self.namesOrigin = request.headerFields.contains(.origin)
        self.remoteAddress = remoteAddress
        self.addressKey = addressKey
        self.server = server
        self.timers = timers
        self.scratch = scratch
        self.eventLoop = eventLoop
        let configuration = server.configuration
        self.polling =
            switch transport {
            case .polling: EngineIOPollingTransport()
            case .webSocket: nil
            }
        self.hot = Hot(
            machine: EngineIOServerSession(
                version: version, transport: transport, maximumQueuedBytes: configuration.maximumQueuedBytes,
                maximumPacketsPerAnswer: configuration.maximumPacketsPerAnswer))
        self.heartbeat = EngineIOHeartbeatStateMachine(
            sendsPings: version.heartbeatSender == .server, pingInterval: configuration.pingInterval, pingTimeout: configuration.pingTimeout
        )
    }

    func start(delegate: any EngineIOSessionDelegate) {
        self.eventLoop.assertInEventLoop()
        self.hot.delegate = delegate
        self.moveHeartbeat(to: self.eventLoop.now + TimeAmount(self.heartbeat.firstTimer))
    }

    // MARK: For the layer above

    /// The first characters of the id, for logs. The whole id is a secret that gives access to the
    /// session.
    package var idPrefix: Substring { self.id.description.prefix(12) }

    package var isClosed: Bool { self.hot.machine.isClosed }

    /// The transport in use; `nil` if the session is closed.
    package var transport: EngineIOTransport? { self.hot.machine.transport }

    /// Whether a packet sent now is written immediately. If `false`, volatile packets are dropped.
    package var isWritable: Bool { self.carrier?.isWritable ?? false }

    /// Whether the outgoing queue is short: the WebSocket's buffer is below its watermark, or at
    /// most 64 KiB are queued for the next poll. When the queue becomes short again, the delegate's
    /// `sessionDrained` is called.
    package var isDrained: Bool { self.carrier?.isDrained(queuedBytes: self.hot.machine.queuedBytes) ?? false }

    /// The transport that carries the session; `nil` if the session is closed.
    private var carrier: (any EngineIOSessionTransport)? {
        switch self.hot.machine.transport {
        case .webSocket: self.hot.webSocket
        case .polling: self.polling
        case nil: nil
        }
    }

    /// Notifies the delegate if the outgoing queue is short. Called after the queue has shrunk.
    func notifyIfDrained() { if self.isDrained { self.hot.delegate?.sessionDrained(self) } }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - frame: The frame of the same message, as made by
    ///     ``webSocketFrame(for:compressing:compression:)``, if many sessions share it.
    ///   - compression: Whether to compress the message where compression was negotiated. An answer
    ///     to a poll is not compressed if one of its messages has `never`.
    package func send(_ message: EngineIOMessage, frame: WebSocketSharedFrame? = nil, compression: WebSocketCompression = .automatic) {
        if let frame, frame.isText, self.send(text: frame) { return }
        if compression == .never { self.polling?.answerMayBeCompressed = false }
        // Text is identical in all versions; a shared binary frame has the form of version 4.
        if case .binary = message, self.version != .v4 { return self.send(.message(message), frame: nil, compression: compression) }
        self.send(.message(message), frame: frame, compression: compression)
    }

    /// Sends a text frame shared by many sessions, if a WebSocket carries this session. Text is
    /// identical in all versions.
    ///
    /// - Returns: Whether the frame was sent. `false` if a WebSocket does not carry the session.
    package func send(text frame: WebSocketSharedFrame) -> Bool {
        guard self.hot.machine.isOnWebSocket, let webSocket = self.hot.webSocket else { return false }
        webSocket.send(.shared(frame))
        return true
    }

    /// Returns a buffer to which a text message is appended for ``sendText(_:around:_:)``. Return
    /// it with ``endText(_:)``.
    package func beginText() -> [UInt8] {
        self.eventLoop.assertInEventLoop()
        var text = self.scratch.take()
        text.append(EngineIOPacketCodec.messageType)
        return text
    }

    /// Returns the buffer of ``beginText()``, whether or not the message was sent.
    package func endText(_ text: inout [UInt8]) { self.scratch.giveBack(&text) }

    /// Sends a text message, without allocating a buffer where the transport permits it.
    ///
    /// - Parameters:
    ///   - text: The buffer of ``beginText()`` with the message.
    ///   - middle: A large part of the message, to be inserted before the last byte, without a copy
    ///     where the transport permits it.
    package func sendText(_ text: [UInt8], around middle: ByteBuffer?, _ compression: WebSocketCompression) {
        if self.hot.machine.isOnWebSocket, let webSocket = self.hot.webSocket {
            return webSocket.send(.text(text, around: middle, compression))
        }
        var text = text
        if let middle { text.insert(contentsOf: middle.readableBytesView, at: text.count - 1) }
        self.send(.text(ByteBuffer(bytes: text.dropFirst())), compression: compression)
    }

    /// Returns the WebSocket frame of a message for many sessions, also in compressed form if
    /// `deflate` and `compression` permit it.
    package static func webSocketFrame(
        for message: EngineIOMessage, compressing deflate: WebSocketDeflateConfiguration?, compression: WebSocketCompression = .automatic
    ) -> WebSocketSharedFrame {
        let frame = EngineIOPacketCodec(version: .v4).webSocketFrame(for: .message(message))
        return WebSocketSharedFrame(WebSocketMessage(frame).compressed(compression), deflate: deflate)
    }

    /// Closes the session and notifies the client.
    package func close(_ reason: EngineIOCloseReason) {
        self.eventLoop.assertInEventLoop()
        guard !self.hot.machine.isClosed else { return }
        guard reason == .forcedClose || reason == .serverShuttingDown else {
            return self.finish(reason, answerHeldPoll: self.hot.machine.close() ? [.close] : [])
        }
        switch self.hot.machine.closeInOrder() {
        case .answerHeldPoll(let packets): self.finish(reason, answerHeldPoll: packets)
        case .waitForPoll, .done: self.finish(reason, answerHeldPoll: [])
        }
    }

    // MARK: Packets

    /// Returns the first packet of a session that starts on this transport.
    func openPacket(on transport: EngineIOTransport) -> EngineIOPacket {
        let configuration = self.server.configuration
        let upgrades =
            configuration.allowsUpgrades ? transport.upgrades.filter(configuration.transports.contains).map(\.rawValue) : []
        return .open(
            EngineIOHandshake(
                sid: self.id.description, upgrades: upgrades, pingInterval: configuration.pingInterval,
                pingTimeout: configuration.pingTimeout,
                maxPayload: configuration.maximumPayloadBytes))
    }

    func received(_ packet: EngineIOPacket) { self.perform(self.hot.machine.received(packet)) }

    /// Performs the machine's action for a received packet.
    @inline(__always)
    func perform(_ action: EngineIOServerSession.ReceivedAction) {
        switch action {
        case .deliver(let message): self.hot.delegate?.session(self, received: message)
        case .receivedPong:
            if case .restartTimer(let delay) = self.heartbeat.receivedPong() {
                self.moveHeartbeat(to: self.eventLoop.now + TimeAmount(delay))
            }
        case .receivedPing(let payload):
            self.send(.pong(payload), frame: nil, compression: .never)
            if case .restartTimer(let delay) = self.heartbeat.receivedPing() {
                self.moveHeartbeat(to: self.eventLoop.now + TimeAmount(delay))
            }
        case .closeSession(let reason, let packets): self.finish(reason, answerHeldPoll: packets)
        case .ignore: break
        }
    }

    private func send(_ packet: EngineIOPacket, frame: WebSocketSharedFrame?, compression: WebSocketCompression) {
        self.eventLoop.assertInEventLoop()
        switch self.hot.machine.send(packet) {
        case .write:
            guard let webSocket = self.hot.webSocket else { return }
            if let frame, self.allowsBinary || !packet.isBinaryMessage {
                webSocket.send(.shared(frame))
            } else {
                self.write(packet, to: webSocket, compression: compression)
            }
        case .answerHeldPoll(let packets): self.answerHeldPollAtEndOfTurn(packets)
        case .queued: self.queueChanged()
        case .drop: break
        case .closeSession(let reason):
            self.recordQueueOverflow()
            self.finish(reason, answerHeldPoll: [])
        }
    }

    func recordQueueOverflow() {
        self.closeDetail =
            "more than \(self.server.configuration.maximumQueuedBytes) bytes are queued for the client (`maximumQueuedBytes`)"
        self.server.logger.debug("Session exceeded its queue limit", metadata: ["engineio.sid": "\(self.idPrefix)"])
    }

    // MARK: Heartbeat

    private func moveHeartbeat(to deadline: NIODeadline) {
        self.heartbeatTime = deadline
        self.timers.set(&self.heartbeatTimer, at: deadline, for: self, Self.heartbeatName)
    }

    private func heartbeatTimerFired() {
        switch self.heartbeat.timerFired() {
        case .sendPing(let delay):
            // The deadline is relative to the planned time, so that delays do not accumulate.
            self.moveHeartbeat(to: self.heartbeatTime + TimeAmount(delay))
            self.send(.ping(ByteBuffer()), frame: nil, compression: .never)
        case .closeSession(let reason):
            let time = self.heartbeat.extendDeadline()
            guard let carrier = self.carrier else { return self.end(reason) }
            carrier.queryIsDraining(for: self.eventLoop) { isDraining in
                if isDraining { self.moveHeartbeat(to: self.eventLoop.now + TimeAmount(time)) } else { self.end(reason) }
            }
        case .doNothing: break
        }
    }

    private func end(_ reason: EngineIOCloseReason) { self.finish(reason, answerHeldPoll: self.hot.machine.close() ? [.close] : []) }

    // MARK: Closing

    /// Releases all resources. The state machine is already closed.
    func finish(_ reason: EngineIOCloseReason, answerHeldPoll packets: [EngineIOPacket]) {
        guard let delegate = self.hot.delegate.take() else { return }
        self.closeReason = reason
        self.heartbeat.stop()
        self.timers.cancel(&self.heartbeatTimer)
        self.cancelUpgradeTimers()
        if !packets.isEmpty { self.answerHeldPoll(packets) }
        self.releaseBudgets()
        self.resumePost()  // answers the waiting POST
        self.closeTransports(for: reason)
        if self.hot.machine.hasClosingPackets, let polling {
            self.server.keepUntilPolled(self)
            self.timers.set(
                &polling.closingTimer, at: self.timers.now + TimeAmount(self.server.configuration.pingTimeout), for: self,
                Self.closingTimerName)
        } else {
            self.server.forget(self)
        }
        self.server.logger.debug("Session closed", metadata: ["engineio.sid": "\(self.idPrefix)", "engineio.reason": "\(reason)"])
        delegate.session(self, closed: reason)
    }

    /// Closes the transports of a closed session. A probe stays open while the client may complete
    /// its upgrade to receive the last packets.
    private func closeTransports(for reason: EngineIOCloseReason) {
        for transport in EngineIOTransport.allCases {
            switch transport {
            case .polling: self.polling?.close(for: reason)
            case .webSocket:
                guard !self.hot.machine.awaitsUpgrade, let webSocket = self.hot.webSocket.take() else { continue }
                self.server.keepUntilClosed(webSocket)
                webSocket.close(for: reason)
            }
        }
    }

    // MARK: Budgets

    /// Counts the bytes of an incomplete packet in the layer above; the count is 0 once the packet
    /// is complete.
    package func countUnfinished(_ bytes: Int) {
        guard bytes >= ByteAccount.grain || !self.unfinished.isEmpty, !self.hot.machine.isClosed else { return }
        self.unfinished.set(bytes, in: self.server.budgets.unfinished, for: self) { self.closer }
    }

    private func releaseBudgets() {
        self.unfinished.set(0, in: self.server.budgets.unfinished, for: self) { self.closer }
        guard let polling else { return }
        polling.queued.set(0, in: self.server.budgets.queued, for: polling) { self.closer }
    }

    /// A closure that closes the session, called by a budget that is exceeded.
    var closer: @Sendable () -> Void {
        {
            self.eventLoop.execute {
                guard !self.hot.machine.isClosed else { return }
                self.closeDetail =
                    "`maximumTotalQueuedBytes` or `maximumUnfinishedBytes` of the server is exceeded, and this client uses the most memory"
                self.server.logger.debug("Session closed by a byte budget", metadata: ["engineio.sid": "\(self.idPrefix)"])
                self.end(.transportError)
            }
        }
    }

    /// Removes a closed session, unless it has packets left for the next poll.
    func forgetIfDrained() {
        guard self.hot.machine.isClosed, !self.hot.machine.hasClosingPackets else { return }
        if let polling { self.timers.cancel(&polling.closingTimer) }
        self.closeTransports(for: .forcedClose)
        self.server.forget(self)
    }

    /// Drops the last packets of a closed session, which no poll has fetched in time.
    private func dropClosingPackets() {
        _ = self.hot.machine.close()
        self.forgetIfDrained()
    }

    /// Handles the shutdown of the server: the layer above may complete its work before it closes
    /// the session.
    func drain() {
        self.eventLoop.assertInEventLoop()
        if let delegate = self.hot.delegate { delegate.sessionShouldClose(self) }
    }

    /// Closes the session at the deadline of the shutdown.
    func cut() {
        self.eventLoop.assertInEventLoop()
        _ = self.hot.machine.close()
        self.finish(.serverShuttingDown, answerHeldPoll: [])
        self.dropClosingPackets()
    }
}

// MARK: Turns

extension EngineIOSession: EventLoopWorker {
    /// The turn of the session's event loop.
    var turn: EventLoopTurn { self.server.buffers.value(on: self.eventLoop).turn }

    /// Defers the remaining messages to a later turn.
    func deferWork(isLight: Bool) {
        guard !self.isDeferred else { return }
        self.isDeferred = true
        self.turn.deferWork(self, isLight: isLight, on: self.eventLoop)
    }

    package func resumeWork() {
        self.isDeferred = false
        // Resumes both transports, because a session uses two during an upgrade.
        self.resumePost()
        self.hot.webSocket?.resume(self)
    }

    /// Runs a delivery to sessions of this event loop: immediately on this loop, otherwise in a
    /// later turn.
    ///
    /// - Parameter count: The number of sessions.
    package func runOnLoop(delivering count: Int, _ body: @escaping @Sendable () -> Void) {
        let buffers = self.server.buffers
        self.server.budgets.backlog.deliver(count, on: self.eventLoop, turn: { buffers.value(on: $0).turn }, body)
    }
}

// MARK: Timers

extension EngineIOSession: EventLoopTimerOwner {
    private static let heartbeatName = EventLoopTimer.Name(0)
    static let upgradeName = EventLoopTimer.Name(1)
    static let upgradeDeadlineName = EventLoopTimer.Name(2)
    private static let closingTimerName = EventLoopTimer.Name(3)

    package func timerFired(_ name: EventLoopTimer.Name) {
        switch name {
        case Self.heartbeatName: self.heartbeatTimerFired()
        case Self.upgradeName: self.upgradeTimerFired()
        case Self.upgradeDeadlineName: self.upgradeDeadlinePassed()
        default: self.dropClosingPackets()
        }
    }
}

/// Receives the events of a session, on the session's event loop.
package protocol EngineIOSessionDelegate: AnyObject {
    /// The open packet was sent. Called once, before all other calls.
    func sessionOpened(_ session: EngineIOSession)
    func session(_ session: EngineIOSession, received message: EngineIOMessage)
    /// The session was upgraded to another transport. The default does nothing.
    func sessionUpgraded(_ session: EngineIOSession)
    /// The outgoing queue is short again. May be called more than once. The default does nothing.
    func sessionDrained(_ session: EngineIOSession)
    /// The server is shutting down. Close the session with `serverShuttingDown` when pending work
    /// is complete; at the deadline of the shutdown the server closes it. The default closes it
    /// immediately.
    func sessionShouldClose(_ session: EngineIOSession)
    /// The session is closed. Called once, as the last call.
    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason)
}

extension EngineIOSessionDelegate {
    package func sessionUpgraded(_ session: EngineIOSession) {}
    package func sessionDrained(_ session: EngineIOSession) {}
    package func sessionShouldClose(_ session: EngineIOSession) { session.close(.serverShuttingDown) }
}

/// A reusable buffer for text messages, shared by the sessions of one event loop. Confined to that
/// event loop.
final class TextBufferPool {
    /// The maximum capacity kept between messages. Each event loop keeps one buffer.
    private static let maximumSpareBytes = 256 << 10

    @exclusivity(unchecked) private var spare: [UInt8] = []

    /// Returns an empty array, usually with reserved capacity. A nested call returns a new array.
    func take() -> [UInt8] {
        var bytes: [UInt8] = []
        swap(&bytes, &self.spare)
        return bytes
    }

    /// Empties `bytes` and keeps its storage for the next call, unless the storage is too large.
    func giveBack(_ bytes: inout [UInt8]) {
        guard bytes.capacity <= Self.maximumSpareBytes else { return }
        bytes.removeAll(keepingCapacity: true)
        swap(&bytes, &self.spare)
    }
}

@available(*, unavailable)
extension TextBufferPool: Sendable {}
