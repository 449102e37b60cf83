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
    private let hop: EngineIOHop?
    /// Whether the transport's buffer has room, as far as the event loop knows.
    private var hasRoom = true
    /// Whether the client is not read, until the session has taken what is on its way to it.
    private(set) var readingIsPaused = false
    /// Bytes sent since the handler was last asked how many of them are still here.
    @exclusivity(unchecked) private var sentBytes = 0

    init(session: EngineIOSession, maximumQueuedBytes: Int, eventLoop: any EventLoop) {
        self.session = session
        self.maximumQueuedBytes = maximumQueuedBytes
        self.eventLoop = eventLoop
        self.isOnLoopOfSession = eventLoop === session.eventLoop
        self.hop = self.isOnLoopOfSession ? nil : EngineIOHop()
    }

    func attach(_ handler: WebSocketHandler) {
        self.eventLoop.assertInEventLoop()
        self.handler = handler
    }

    /// On the session's event loop.
    var isWritable: Bool { self.hop?.isWritable ?? self.hasRoom }

    // MARK: From the session

    func send(_ message: EngineIOMessage, _ compression: WebSocketCompression) {
        guard self.eventLoop.inEventLoop else { return self.eventLoop.execute { self.send(message, compression) } }
        var frame: WebSocketMessage
        switch message {
        case .text(let bytes): frame = WebSocketMessage(.text, bytes)
        case .binary(let bytes): frame = WebSocketMessage(.binary, bytes)
        }
        frame.compression = compression
        self.handler?.send(frame)
        self.count(frame.payload.readableBytes)
    }

    /// Sends a text frame. On the event loop.
    ///
    /// - Parameter middle: What goes before the last byte, and is not copied.
    func sendText(_ text: [UInt8], around middle: ByteBuffer?, _ compression: WebSocketCompression) {
        if let middle { self.handler?.sendText(text, around: middle, compression) } else { self.handler?.sendText(text, compression) }
        self.count(text.count + (middle?.readableBytes ?? 0))
    }

    func send(_ frame: WebSocketSharedFrame) {
        guard self.isOnLoopOfSession || self.eventLoop.inEventLoop else { return self.eventLoop.execute { self.send(frame) } }
        self.handler?.send(frame)
        self.count(frame.plain.readableBytes)
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
        self.eventLoop.runOnLoop { self.handler?.close(code: code, reason: "") }
    }

    func abort() {
        self.eventLoop.runOnLoop { self.handler?.abort() }
    }

    // MARK: From the WebSocket

    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) { self.received(message) }

    func received(_ message: WebSocketMessage) {
        guard let session = self.session else { return }
        if let hop { self.carry(message, hop, to: session) } else { session.received(message, on: self) }
    }

    /// Takes a message to the session's event loop.
    private func carry(_ message: WebSocketMessage, _ hop: EngineIOHop, to session: EngineIOSession) {
        let bytes = message.payload.readableBytes
        if hop.departed(bytes) { self.setReading(paused: true) }
        session.eventLoop.execute {
            session.received(message, on: self)
            guard hop.arrived(bytes) else { return }
            self.eventLoop.execute { if hop.hasRoom { self.setReading(paused: false) } }
        }
    }

    private func setReading(paused: Bool) {
        guard self.readingIsPaused != paused else { return }
        self.readingIsPaused = paused
        // Fails when the channel is gone, and then there is nothing to read.
        try? self.handler?.channel?.syncOptions?.setOption(.autoRead, value: !paused)
    }

    func webSocketReadComplete(_ handler: WebSocketHandler) {}

    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        if let hop { hop.isWritable = isWritable } else { self.hasRoom = isWritable }
        if isWritable, let session { session.eventLoop.runOnLoop { session.webSocketDrained(self) } }
    }

    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        self.handler = nil
        guard let session = self.session.take() else { return }
        // Both on the session's loop: a session that ends meanwhile has first told the server that we linger, and that is taken back here.
        session.eventLoop.runOnLoop {
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
