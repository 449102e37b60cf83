package import ApusConnectivity
package import ApusEngineIOProtocol
package import ApusWebSocket
package import ApusWebSocketProtocol
package import HTTPTypes
import Logging
package import NIOCore

/// The shell around `EngineIOServerSession` and `EngineIOHeartbeat`: timers, the held poll and the WebSocket.
///
/// `@unchecked Sendable`: every mutable property is touched on `eventLoop` only; each method asserts it.
package final class EngineIOSession: @unchecked Sendable {
    package let id: EngineIOID
    /// The request of the handshake, put together each time.
    package var request: HTTPRequest { self.storedRequest.request }
    package let storedRequest: StoredRequest
    package let remoteAddress: SocketAddress?
    package let eventLoop: any EventLoop

    let server: EngineIOServer
    private let scratch: TextBufferPool
    /// Under what name the client is counted.
    package let addressKey: String?
    // A byte each, and together, for that is how they lie in memory.
    /// What the client speaks.
    package let version: EngineIOVersion
    let codec: EngineIOPacketCodec
    /// Whether the request came over TLS that ends at this server.
    package let isSecure: Bool
    /// Whether the request names the page it came from.
    package let namesOrigin: Bool
    /// A version 3 client that cannot take binary data says so with `b64=1`.
    let allowsBinary: Bool
    var closeReason: EngineIOCloseReason?
    /// Whether messages wait for a later turn of the event loop.
    private(set) var isPutOff = false
    var payloadCodec: EngineIOPayloadCodec {
        EngineIOPayloadCodec(version: self.version, maximumPackets: self.server.configuration.maximumPacketsPerPayload)
    }

    // Unchecked is what every message touches, within single statements and never over a call to the layers around.
    @exclusivity(unchecked) var machine: EngineIOServerSession
    @exclusivity(unchecked) var delegate: (any EngineIOSessionDelegate)?
    /// What was seen when the session ended, in more words than the reason; for a log.
    package internal(set) var closeDetail: String?
    @exclusivity(unchecked) var webSocket: EngineIOWebSocketTransport?
    /// `nil` for a session that began on a WebSocket.
    let polling: EngineIOPollingState?
    /// Deadlines on the session's event loop.
    package let timers: EventLoopTimers
    /// What the layer above holds of an incomplete packet, as far as the server's budget knows.
    private var unfinished = ByteAccount()
    private var heartbeat: EngineIOHeartbeat
    private var heartbeatTimer = EventLoopTimer()
    private var heartbeatTime = NIODeadline.distantFuture

    init(
        id: EngineIOID, version: EngineIOVersion, transport: EngineIOTransport, request: HTTPRequest, remoteAddress: SocketAddress?,
        addressKey: String?, server: EngineIOServer, timers: EventLoopTimers, scratch: TextBufferPool, eventLoop: any EventLoop
    ) {
        self.id = id
        self.version = version
        self.codec = EngineIOPacketCodec(version: version)
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
        self.polling = transport == .polling ? EngineIOPollingState() : nil
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
        self.moveHeartbeat(to: self.eventLoop.now + TimeAmount(self.heartbeat.firstTimer))
    }

    // MARK: For the layer above

    /// The start of the id, for a log or a page: who knows all of it can use the session.
    package var shownID: Substring { self.id.description.prefix(12) }

    package var isClosed: Bool { self.machine.isClosed }

    /// The transport in use: `polling` or `websocket`; `nil` once closed.
    package var transportName: String? { self.machine.transport?.rawValue }

    /// Whether a packet written now would go out at once; volatile packets are dropped when not.
    package var isWritable: Bool {
        switch self.machine.transport {
        case .webSocket: self.webSocket?.isWritable ?? false
        case .polling: self.polling?.heldPoll != nil
        case nil: false
        }
    }

    /// Most bytes in the poll queue of a drained session.
    private static let drainedBytes = 64 << 10

    /// Whether the outgoing queue is short: the WebSocket's transport is writable, or at most 64
    /// KiB wait for the next poll. When it becomes short again, the delegate's `sessionDrained` is
    /// called.
    package var isDrained: Bool {
        switch self.machine.transport {
        case .webSocket: self.webSocket?.isWritable ?? false
        case .polling: self.machine.queuedBytes <= Self.drainedBytes
        case nil: false
        }
    }

    /// Called after the outgoing queue became shorter.
    func tellIfDrained() { if self.isDrained { self.delegate?.sessionDrained(self) } }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - frame: The same message as ``webSocketFrame(for:)`` made it, when many sessions share it.
    ///   - compression: Whether it is compressed where that was agreed on. An answer to a poll is not when one of its messages says `never`.
    package func send(_ message: EngineIOMessage, frame: WebSocketSharedFrame? = nil, compression: WebSocketCompression = .automatic) {
        if let frame, frame.isText, self.send(text: frame) { return }
        if compression == .never, self.machine.transport == .polling { self.polling?.answerMayBeCompressed = false }
        // Text is the same in every version; a binary frame made for many is version 4's.
        if case .binary = message, self.version != .v4 { return self.send(.message(message), frame: nil, compression: compression) }
        self.send(.message(message), frame: frame, compression: compression)
    }

    /// Sends a text that many sessions share, if it goes out by a WebSocket: text is the same in every version.
    ///
    /// - Returns: Whether it does; otherwise nothing was done.
    package func send(text frame: WebSocketSharedFrame) -> Bool {
        guard self.machine.isOnWebSocket, let webSocket = self.webSocket else { return false }
        webSocket.send(frame)
        return true
    }

    /// Begins a text message: bytes that it is to be appended to, for ``sendText(_:around:_:)``. ``endText(_:)`` takes them back.
    package func beginText() -> [UInt8] {
        self.eventLoop.assertInEventLoop()
        var text = self.scratch.take()
        text.append(EngineIOPacketCodec.messageType)
        return text
    }

    /// Keeps the memory of a text that was begun, whether it was sent or not.
    package func endText(_ text: inout [UInt8]) { self.scratch.giveBack(&text) }

    /// Sends a text message, without a buffer for it where the transport permits.
    ///
    /// - Parameters:
    ///   - text: What ``beginText()`` answered, and the message behind it.
    ///   - middle: A large part of the message, which is not copied where the transport permits. It goes before the last byte.
    package func sendText(_ text: [UInt8], around middle: ByteBuffer?, _ compression: WebSocketCompression) {
        if self.machine.isOnWebSocket, let webSocket = self.webSocket, webSocket.isOnLoopOfSession {
            return webSocket.sendText(text, around: middle, compression)
        }
        var text = text
        if let middle { text.insert(contentsOf: middle.readableBytesView, at: text.count - 1) }
        self.send(.text(ByteBuffer(bytes: text.dropFirst())), compression: compression)
    }

    /// The whole WebSocket frame of a message, for `send(_:frame:)` to many sessions.
    package static func webSocketFrame(for message: EngineIOMessage) -> WebSocketSharedFrame {
        self.webSocketFrame(for: message, compressing: nil, compression: .never)
    }

    /// The whole WebSocket frame of a message, plain and, when `deflate` and `compression` say so, compressed; for many sessions.
    package static func webSocketFrame(
        for message: EngineIOMessage, compressing deflate: WebSocketDeflateConfiguration?, compression: WebSocketCompression = .automatic
    ) -> WebSocketSharedFrame {
        var frame =
            switch EngineIOPacketCodec(version: .v4).webSocketFrame(for: .message(message)) {
            case .text(let bytes): WebSocketMessage(.text, bytes)
            case .binary(let bytes): WebSocketMessage(.binary, bytes)
            }
        frame.compression = compression
        return WebSocketSharedFrame(frame, deflate: deflate)
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

    // MARK: Packets

    func received(_ packet: EngineIOPacket) {
        switch self.machine.received(packet) {
        case .deliver(let message): self.delegate?.session(self, received: message)
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
        switch self.machine.send(packet) {
        case .writeToWebSocket:
            guard let webSocket = self.webSocket else { return }
            if let frame, self.allowsBinary || !packet.isBinaryMessage {
                webSocket.send(frame)
            } else {
                self.write(packet, to: webSocket, compression: compression)
            }
        case .answerHeldPoll(let packets): self.answerHeldPollAtEndOfTurn(packets)
        case .queued: self.queueChanged()
        case .drop: break
        case .closeSession(let reason):
            self.noteSlowReader()
            self.finish(reason, answerHeldPoll: [])
        }
    }

    func noteSlowReader() {
        self.closeDetail = "more than \(self.server.configuration.maximumQueuedBytes) bytes wait for the client"
        self.server.logger.debug("Closing a session that does not read", metadata: ["engineio.sid": "\(self.shownID)"])
    }

    // MARK: Heartbeat

    private func moveHeartbeat(to deadline: NIODeadline) {
        self.heartbeatTime = deadline
        self.timers.set(&self.heartbeatTimer, at: deadline, for: self, Self.heartbeatName)
    }

    private func heartbeatTimerFired() {
        switch self.heartbeat.timerFired() {
        case .sendPing(let delay):
            // From the time that was planned: lateness does not add up.
            self.moveHeartbeat(to: self.heartbeatTime + TimeAmount(delay))
            self.send(.ping(ByteBuffer()), frame: nil, compression: .never)
        case .closeSession(let reason):
            let time = self.heartbeat.peerIsDraining()
            guard self.machine.isOnWebSocket, let webSocket else { return self.end(reason) }
            webSocket.askIsDraining { isDraining in
                if isDraining { self.moveHeartbeat(to: self.eventLoop.now + TimeAmount(time)) } else { self.end(reason) }
            }
        case .doNothing: break
        }
    }

    private func end(_ reason: EngineIOCloseReason) { self.finish(reason, answerHeldPoll: self.machine.close() ? [.close] : []) }

    // MARK: The end

    /// Lets go of everything. The machine is closed already.
    func finish(_ reason: EngineIOCloseReason, answerHeldPoll packets: [EngineIOPacket]) {
        guard let delegate = self.delegate.take() else { return }
        self.closeReason = reason
        self.heartbeat.stop()
        self.timers.cancel(&self.heartbeatTimer)
        self.cancelUpgradeTimers()
        if !packets.isEmpty { self.answerHeldPoll(packets) }
        self.polling?.heldPoll = nil
        self.countNothing()
        self.resumePost()  // it is answered
        if let webSocket = self.webSocket.take() {
            self.server.linger(webSocket)
            switch reason {
            case .serverShuttingDown: webSocket.close(.goingAway)
            case .transportError: webSocket.abort()
            case .transportClose, .pingTimeout, .parseError, .forcedClose: webSocket.close(.normalClosure)
            }
        }
        if self.machine.hasFarewell, let polling {
            self.server.keepForFarewell(self)
            self.timers.set(
                &polling.farewellTimer, at: self.timers.now + TimeAmount(self.server.configuration.pingTimeout), for: self,
                Self.farewellName)
        } else {
            self.server.forget(self)
        }
        self.server.logger.debug("Session closed", metadata: ["engineio.sid": "\(self.shownID)", "engineio.reason": "\(reason)"])
        delegate.session(self, closed: reason)
    }

    // MARK: Budgets

    /// Counts what the layer above holds of a packet that is not complete; 0 when it is.
    package func countUnfinished(_ bytes: Int) {
        guard bytes >= ByteAccount.grain || !self.unfinished.isEmpty, !self.machine.isClosed else { return }
        self.unfinished.set(bytes, in: self.server.budgets.unfinished, for: self) { self.closer }
    }

    private func countNothing() {
        self.unfinished.set(0, in: self.server.budgets.unfinished, for: self) { self.closer }
        guard let polling else { return }
        polling.queued.set(0, in: self.server.budgets.queued, for: polling) { self.closer }
    }

    /// Ends the session, whose client holds more than the others when all hold too much.
    var closer: @Sendable () -> Void {
        {
            self.eventLoop.execute {
                guard !self.machine.isClosed else { return }
                self.closeDetail = "the clients of the server hold more bytes than they may together"
                self.server.logger.debug("Closing the client that holds most", metadata: ["engineio.sid": "\(self.shownID)"])
                self.end(.transportError)
            }
        }
    }

    /// A closed session stays to be found until its last words are said.
    func forgetUnlessFarewell() {
        guard self.machine.isClosed, !self.machine.hasFarewell else { return }
        if let polling { self.timers.cancel(&polling.farewellTimer) }
        self.server.forget(self)
    }

    /// Nobody came for the last words.
    private func cutFarewell() {
        _ = self.machine.close()
        self.forgetUnlessFarewell()
    }

    /// The server goes down: the layer above may finish what it is doing.
    func drain() {
        self.eventLoop.assertInEventLoop()
        if let delegate { delegate.sessionShouldClose(self) }
    }

    /// The drain's time is up.
    func cut() {
        self.eventLoop.assertInEventLoop()
        _ = self.machine.close()
        self.finish(.serverShuttingDown, answerHeldPoll: [])
        self.cutFarewell()
    }
}

// MARK: Turns

extension EngineIOSession: EventLoopWorker {
    /// The turn of the session's event loop.
    var turn: EventLoopTurn { self.server.buffers.value(on: self.eventLoop).turn }

    /// Handles the messages that are left in a later turn.
    func putOff(isLight: Bool) {
        guard !self.isPutOff else { return }
        self.isPutOff = true
        self.turn.putOff(self, isLight: isLight, on: self.eventLoop)
    }

    package func resumeWork() {
        self.isPutOff = false
        self.resumePost()
        self.webSocket?.resume(self)
    }

    /// Sends to sessions of this one's event loop: now when on it, else at its next turn.
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
    private static let farewellName = EventLoopTimer.Name(3)

    package func timerFired(_ name: EventLoopTimer.Name) {
        switch name {
        case Self.heartbeatName: self.heartbeatTimerFired()
        case Self.upgradeName: self.upgradeTimerFired()
        case Self.upgradeDeadlineName: self.upgradeDeadlinePassed()
        default: self.cutFarewell()
        }
    }
}
