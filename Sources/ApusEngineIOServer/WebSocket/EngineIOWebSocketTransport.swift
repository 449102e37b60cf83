import ApusConnectivity
import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore

/// A WebSocket as a session sees it. An upgrade may arrive on another event loop than the session's; then it hops, in order.
///
/// `@unchecked Sendable`: the mutable properties are touched on `eventLoop` only.
final class EngineIOWebSocketTransport: WebSocketHandlerDelegate, @unchecked Sendable {
    private let eventLoop: any EventLoop
    private let maximumQueuedBytes: Int
    // Unchecked is what every message touches, within single statements.
    @exclusivity(unchecked) private var handler: WebSocketHandler?
    @exclusivity(unchecked) private var session: EngineIOSession?
    /// Whether nothing has to hop.
    let isOnLoopOfSession: Bool
    /// `nil` when nothing has to hop.
    private let crossLoop: CrossLoopFlowControl?
    /// Whether the transport's buffer has room, as far as the event loop knows.
    private var hasRoom = true
    /// Bytes sent since the handler was last asked how many of them are still here.
    @exclusivity(unchecked) private var sentBytes = 0

    /// Whether the client is not read, until the session has taken what is on its way to it.
    private(set) var readingIsPaused = false

    init(session: EngineIOSession, configuration: EngineIOServerConfiguration, eventLoop: any EventLoop) {
        self.session = session
        self.maximumQueuedBytes = configuration.maximumQueuedBytes
        self.eventLoop = eventLoop
        self.isOnLoopOfSession = eventLoop === session.eventLoop
        self.crossLoop = self.isOnLoopOfSession ? nil : CrossLoopFlowControl(queueLowMark: configuration.effectiveQueueLowMark)
    }

    func attach(_ handler: WebSocketHandler) {
        self.eventLoop.assertInEventLoop()
        self.handler = handler
    }

    /// On the session's event loop.
    var isWritable: Bool { self.crossLoop?.isWritable ?? self.hasRoom }

    // MARK: From the session

    func send(_ message: EngineIOMessage, _ compression: WebSocketCompression) {
        var frame: WebSocketMessage
        switch message {
        case .text(let bytes): frame = WebSocketMessage(.text, bytes)
        case .binary(let bytes): frame = WebSocketMessage(.binary, bytes)
        }
        frame.compression = compression
        if let crossLoop { self.order(.message(frame), crossLoop) } else { self.send(frame) }
    }

    private func send(_ message: WebSocketMessage) {
        self.handler?.send(message)
        self.count(message.payload.readableBytes)
    }

    /// Sends a text frame. On the event loop.
    ///
    /// - Parameter middle: What goes before the last byte, and is not copied.
    func sendText(_ text: [UInt8], around middle: ByteBuffer?, _ compression: WebSocketCompression) {
        if let middle { self.handler?.sendText(text, around: middle, compression) } else { self.handler?.sendText(text, compression) }
        self.count(text.count + (middle?.readableBytes ?? 0))
    }

    func send(_ frame: WebSocketSharedFrame) {
        if let crossLoop { return self.order(.frame(frame), crossLoop) }
        self.handler?.send(frame)
        self.count(frame.plain.readableBytes)
    }

    /// Takes an order to the WebSocket's event loop.
    private func order(_ order: CrossLoopFlowControl.Order, _ crossLoop: CrossLoopFlowControl) {
        guard crossLoop.order(order) else { return }
        self.eventLoop.execute { self.carryOut(crossLoop.takeOrders(), crossLoop) }
    }

    private func carryOut(_ orders: [CrossLoopFlowControl.Order], _ crossLoop: CrossLoopFlowControl) {
        for order in orders {
            switch order {
            case .message(let message): self.send(message)
            case .frame(let frame):
                self.handler?.send(frame)
                self.count(frame.plain.readableBytes)
            case .close(let code): self.handler?.close(code: code, reason: "")
            case .abort: self.handler?.abort()
            }
        }
        self.tellQueue { crossLoop.carriedOut(orders, isWritable: $0, queuedBytes: $1) }
    }

    /// The handler knows what waits, but to ask it for every message would cost; so many bytes cannot wait before as many were sent.
    private func count(_ bytes: Int) {
        self.sentBytes += bytes
        guard self.sentBytes > self.maximumQueuedBytes, let handler, let session else { return }
        self.sentBytes = handler.queuedBytes
        guard self.sentBytes > self.maximumQueuedBytes else { return }
        session.eventLoop.runOnLoop { session.webSocketOverflowed(self) }
    }

    func close(_ code: WebSocketCloseCode) {
        if let crossLoop { return self.order(.close(code), crossLoop) }
        self.eventLoop.runOnLoop { self.handler?.close(code: code, reason: "") }
    }

    func abort() {
        if let crossLoop { self.order(.abort, crossLoop) } else { self.eventLoop.runOnLoop { self.handler?.abort() } }
    }

    /// Asks whether the client takes what is queued for it, though its messages have to wait until it has taken more. Answers on the session's loop.
    func askIsDraining(_ answer: @escaping @Sendable (Bool) -> Void) {
        guard let session else { return answer(false) }
        self.eventLoop.runOnLoop {
            let isDraining = self.handler?.isDraining ?? false
            session.eventLoop.runOnLoop { answer(isDraining) }
        }
    }

    // MARK: From the WebSocket

    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) { self.received(message) }

    func received(_ message: WebSocketMessage) {
        guard let session = self.session else { return }
        if let crossLoop { self.carry(message, crossLoop, to: session) } else { session.received(message, on: self) }
    }

    /// Takes a message to the session's event loop.
    private func carry(_ message: WebSocketMessage, _ crossLoop: CrossLoopFlowControl, to session: EngineIOSession) {
        let (callsSession, isTooMuch) = crossLoop.depart(message)
        if isTooMuch { self.setReading(paused: true) }
        if callsSession { session.eventLoop.execute { self.handOver(crossLoop, to: session) } }
    }

    /// Gives the session what has come. On its event loop, until the turn is full.
    func handOver(_ crossLoop: CrossLoopFlowControl, to session: EngineIOSession) {
        let turn = session.turn
        let before = turn.deliveries
        while !session.isPutOff, !turn.isFull {
            guard let (message, makesRoom) = crossLoop.arrive() else { return }
            session.received(message, on: self)
            if makesRoom { self.eventLoop.execute { if crossLoop.hasRoom { self.setReading(paused: false) } } }
        }
        session.putOff(isLight: turn.deliveries &- before < EventLoopTurn.lightDeliveries)
    }

    /// The session may go on with what it has put off.
    func resume(_ session: EngineIOSession) {
        if let crossLoop { self.handOver(crossLoop, to: session) }
    }

    private func setReading(paused: Bool) {
        guard self.readingIsPaused != paused else { return }
        self.readingIsPaused = paused
        self.handler?.setReading(paused: paused)
    }

    /// Tells the session what waits in the transport.
    private func tellQueue(_ tell: (_ isWritable: Bool, _ queuedBytes: Int) -> CrossLoopFlowControl.Wakes) {
        guard let handler, let session else { return }
        let isWritable = handler.isWritable
        let wakes = tell(isWritable, isWritable ? 0 : handler.queuedBytes)
        guard wakes != .init() else { return }
        session.eventLoop.execute {
            if wakes.drains { session.webSocketDrained(self) }
            if wakes.resumes { self.resume(session) }
        }
    }

    func webSocketReadComplete(_ handler: WebSocketHandler) {}

    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        if let crossLoop { return self.tellQueue { crossLoop.transportChanged(isWritable: $0, queuedBytes: $1) } }
        self.hasRoom = isWritable
        if isWritable, let session { session.eventLoop.runOnLoop { session.webSocketDrained(self) } }
    }

    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        self.handler = nil
        guard let session = self.session.take() else { return }
        // Both on the session's loop: a session that ends meanwhile has first told the server that we linger, and that is taken back here.
        session.eventLoop.runOnLoop {
            // What the client said before comes first.
            while let message = self.crossLoop?.arriveAtEnd() { session.received(message, on: self) }
            session.webSocketClosed(self, isClean: error == nil)
            session.server.left(self)
        }
    }
}

extension EngineIOMessage {
    /// The same bytes.
    init(_ message: WebSocketMessage) {
        switch message.kind {
        case .text: self = .text(message.payload)
        case .binary: self = .binary(message.payload)
        }
    }
}
