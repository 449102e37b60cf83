import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore

/// Records its events, and echoes messages on demand.
final class RecordingDelegate: WebSocketHandlerDelegate {
    var messages: [WebSocketMessage] = []
    var pongs: [ByteBuffer] = []
    var readCompletes = 0
    var writability: [Bool] = []
    var closed: [(code: WebSocketCloseCode?, error: WebSocketError?)] = []
    var echoes = false
    var onMessage: (WebSocketHandler, WebSocketMessage) -> Void = { _, _ in }
    var onClosed: () -> Void = {}

    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {
        self.messages.append(message)
        if self.echoes { handler.send(message) }
        self.onMessage(handler, message)
    }

    func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer) { self.pongs.append(payload) }

    func webSocketReadComplete(_ handler: WebSocketHandler) { self.readCompletes += 1 }

    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) { self.writability.append(isWritable) }

    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        self.closed.append((code, error))
        self.onClosed()
    }
}
