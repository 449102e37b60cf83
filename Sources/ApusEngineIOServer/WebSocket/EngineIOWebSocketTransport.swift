import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import Atomics
import NIOCore

/// A WebSocket as a session sees it. An upgrade may arrive on another event loop than the session's; then it hops, in order.
///
/// `@unchecked Sendable`: `handler` and `session` are touched on `eventLoop` only, `queuedBytes` on the session's, the flag is atomic.
final class EngineIOWebSocketTransport: WebSocketHandlerDelegate, @unchecked Sendable {
    private let eventLoop: any EventLoop
    private var handler: WebSocketHandler?
    private var session: EngineIOSession?
    private let writable = ManagedAtomic(true)

    /// Bytes sent since the peer stopped reading; 0 while it reads.
    private(set) var queuedBytes = 0

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    func attach(_ handler: WebSocketHandler, session: EngineIOSession) {
        self.eventLoop.assertInEventLoop()
        self.handler = handler
        self.session = session
    }

    var isWritable: Bool { self.writable.load(ordering: .relaxed) }

    // MARK: From the session

    func send(_ message: EngineIOMessage) {
        switch message {
        case .text(let bytes):
            self.count(bytes)
            self.eventLoop.runOnLoop { self.handler?.send(WebSocketMessage(.text, bytes)) }
        case .binary(let bytes):
            self.count(bytes)
            self.eventLoop.runOnLoop { self.handler?.send(WebSocketMessage(.binary, bytes)) }
        }
    }

    func send(preencoded frame: ByteBuffer) {
        self.count(frame)
        self.eventLoop.runOnLoop { self.handler?.send(preencoded: frame) }
    }

    private func count(_ bytes: ByteBuffer) {
        self.queuedBytes = self.isWritable ? 0 : self.queuedBytes + bytes.readableBytes
    }

    func close(_ code: WebSocketCloseCode) {
        self.eventLoop.runOnLoop { self.handler?.close(code: code, reason: "") }
    }

    func abort() {
        self.eventLoop.runOnLoop { self.handler?.abort() }
    }

    // MARK: From the WebSocket

    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {
        guard let session = self.session else { return }
        let frame: EngineIOMessage =
            switch message.kind {
            case .text: .text(message.payload)
            case .binary: .binary(message.payload)
            }
        session.eventLoop.runOnLoop { session.received(frame, on: self) }
    }

    func webSocketReadComplete(_ handler: WebSocketHandler) {}

    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        self.writable.store(isWritable, ordering: .relaxed)
    }

    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        self.handler = nil
        guard let session = exchange(&self.session, with: nil) else { return }
        session.eventLoop.runOnLoop { session.webSocketClosed(self, isClean: error == nil) }
    }
}
