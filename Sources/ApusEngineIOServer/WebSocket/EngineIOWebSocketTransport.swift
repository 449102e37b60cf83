import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore

/// The WebSocket of a session. After an upgrade it may run on another event loop than the session;
/// calls are then transferred to that event loop, in order.
///
/// `@unchecked Sendable`: the mutable properties are used on `eventLoop` only.
final class EngineIOWebSocketTransport: EngineIOSessionTransport, WebSocketHandlerDelegate, @unchecked Sendable {
    private let eventLoop: any EventLoop
    private let maximumQueuedBytes: Int
    /// The variables that every message uses. Exclusivity is unchecked: they are accessed in single
    /// statements.
    @exclusivity(unchecked) private var hot: Hot
    /// The transfer between the event loops; `nil` if there is only one.
    private let crossLoop: CrossLoopFlowControl?
    /// Whether the transport's buffer is writable, as of its last notification.
    private var hasRoom = true
    /// Whether reading is paused until the session has handled queued messages.
    private(set) var readingIsPaused = false

    private struct Hot {
        var handler: WebSocketHandler?
        var session: EngineIOSession?
        /// The number of bytes sent since the handler's queue was last measured.
        var sentBytes = 0
    }

    init(session: EngineIOSession, configuration: EngineIOServerConfiguration, eventLoop: any EventLoop) {
        self.hot = Hot(session: session)
        self.maximumQueuedBytes = configuration.maximumQueuedBytes
        self.eventLoop = eventLoop
        self.crossLoop =
            eventLoop === session.eventLoop ? nil : CrossLoopFlowControl(queueLowMark: configuration.effectiveQueueLowMark)
    }

    func attach(_ handler: WebSocketHandler) {
        self.eventLoop.assertInEventLoop()
        self.hot.handler = handler
    }

    /// Whether the WebSocket accepts more data. Called on the session's event loop.
    var isWritable: Bool { self.crossLoop?.isWritable ?? self.hasRoom }

    // MARK: From the session

    /// Sends a message, directly if the WebSocket is on the session's event loop.
    func send(_ output: WebSocketOutput) {
        if let crossLoop { return self.send(.output(output.stored), crossLoop) }
        self.hot.handler?.send(output)
        self.count(output.byteCount)
    }

    /// Transfers a command to the WebSocket's event loop.
    private func send(_ command: CrossLoopFlowControl.Command, _ crossLoop: CrossLoopFlowControl) {
        guard crossLoop.send(command) else { return }
        self.eventLoop.execute { self.execute(crossLoop.takeCommands(), crossLoop) }
    }

    private func execute(_ commands: [CrossLoopFlowControl.Command], _ crossLoop: CrossLoopFlowControl) {
        for command in commands {
            switch command {
            case .output(let output):
                self.hot.handler?.send(output)
                self.count(output.byteCount)
            case .close(let code): self.hot.handler?.close(code: code, reason: "")
            case .abort: self.hot.handler?.abort()
            }
        }
        self.reportQueue { crossLoop.commandsExecuted(commands, isWritable: $0, queuedBytes: $1) }
    }

    /// Counts sent bytes. Measures the handler's queue only after `maximumQueuedBytes` were sent,
    /// because measuring for each message is expensive.
    private func count(_ bytes: Int) {
        self.hot.sentBytes += bytes
        guard self.hot.sentBytes > self.maximumQueuedBytes, let handler = self.hot.handler, let session = self.hot.session else { return }
        self.hot.sentBytes = handler.queuedBytes
        guard self.hot.sentBytes > self.maximumQueuedBytes else { return }
        session.eventLoop.runOnLoop { session.webSocketOverflowed(self) }
    }

    func isDrained(queuedBytes: Int) -> Bool { self.isWritable }

    func close(for reason: EngineIOCloseReason) {
        switch reason {
        case .serverShuttingDown: self.close(.goingAway)
        case .transportError: self.abort()
        case .transportClose, .pingTimeout, .parseError, .forcedClose: self.close(.normalClosure)
        }
    }

    func close(_ code: WebSocketCloseCode) {
        if let crossLoop { return self.send(.close(code), crossLoop) }
        self.eventLoop.runOnLoop { self.hot.handler?.close(code: code, reason: "") }
    }

    func abort() {
        if let crossLoop { self.send(.abort, crossLoop) } else { self.eventLoop.runOnLoop { self.hot.handler?.abort() } }
    }

    func queryIsDraining(for eventLoop: any EventLoop, _ answer: @escaping @Sendable (Bool) -> Void) {
        self.eventLoop.runOnLoop {
            let isDraining = self.hot.session != nil && self.hot.handler?.isDraining == true
            eventLoop.runOnLoop { answer(isDraining) }
        }
    }

    // MARK: From the WebSocket

    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {
        guard let session = self.hot.session else { return }
        if let crossLoop { self.carry(message, crossLoop, to: session) } else { session.received(message, on: self) }
    }

    /// Transfers a message to the session's event loop.
    private func carry(_ message: WebSocketMessage, _ crossLoop: CrossLoopFlowControl, to session: EngineIOSession) {
        let (callsSession, isTooMuch) = crossLoop.enqueue(message)
        if isTooMuch { self.setReading(paused: true) }
        if callsSession { session.eventLoop.execute { self.handOver(crossLoop, to: session) } }
    }

    /// Delivers queued messages to the session, on its event loop, until the turn is full.
    func handOver(_ crossLoop: CrossLoopFlowControl, to session: EngineIOSession) {
        let turn = session.turn
        let before = turn.deliveries
        while !session.isDeferred, !turn.isFull {
            guard let (message, makesRoom) = crossLoop.dequeue() else { return }
            session.received(message, on: self)
            if makesRoom { self.eventLoop.execute { if crossLoop.hasRoom { self.setReading(paused: false) } } }
        }
        session.deferWork(isLight: turn.deliveries &- before < EventLoopTurn.lightDeliveries)
    }

    /// Resumes deferred deliveries.
    func resume(_ session: EngineIOSession) {
        if let crossLoop { self.handOver(crossLoop, to: session) }
    }

    private func setReading(paused: Bool) {
        guard self.readingIsPaused != paused else { return }
        self.readingIsPaused = paused
        self.hot.handler?.setReading(paused: paused)
    }

    /// Reports the transport's queue to the flow control, and notifies the session.
    private func reportQueue(_ tell: (_ isWritable: Bool, _ queuedBytes: Int) -> CrossLoopFlowControl.Notifications) {
        guard let handler = self.hot.handler, let session = self.hot.session else { return }
        let isWritable = handler.isWritable
        let notifications = tell(isWritable, isWritable ? 0 : handler.queuedBytes)
        guard notifications != .init() else { return }
        session.eventLoop.execute {
            if notifications.drains { session.webSocketDrained(self) }
            if notifications.resumes { self.resume(session) }
        }
    }

    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        if let crossLoop { return self.reportQueue { crossLoop.transportChanged(isWritable: $0, queuedBytes: $1) } }
        self.hasRoom = isWritable
        if isWritable, let session = self.hot.session { session.eventLoop.runOnLoop { session.webSocketDrained(self) } }
    }

    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        self.hot.handler = nil
        guard let session = self.hot.session.take() else { return }
        // Runs on the session's event loop. A session that closed in the meantime has registered
        // this WebSocket as closing; the registration is removed here.
        session.eventLoop.runOnLoop {
            // Messages received before the close are delivered first.
            while let message = self.crossLoop?.dequeueAfterClose() { session.received(message, on: self) }
            session.webSocketClosed(self, isClean: error == nil)
            session.server.webSocketClosed(self)
        }
    }
}

extension WebSocketMessage {
    /// Creates a message with the same bytes.
    init(_ message: EngineIOMessage) {
        switch message {
        case .text(let bytes): self.init(.text, bytes)
        case .binary(let bytes): self.init(.binary, bytes)
        }
    }
}

extension EngineIOMessage {
    /// Creates a message with the same bytes.
    init(_ message: WebSocketMessage) {
        switch message.kind {
        case .text: self = .text(message.payload)
        case .binary: self = .binary(message.payload)
        }
    }
}
