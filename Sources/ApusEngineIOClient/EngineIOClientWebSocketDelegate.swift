import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import NIOCore

/// Forwards WebSocket events to the Engine.IO connection until ``connection`` is `nil`.
final class EngineIOClientWebSocketDelegate: WebSocketHandlerDelegate {
    weak var connection: EngineIOClientConnection?

    init(connection: EngineIOClientConnection) {
        self.connection = connection
    }

    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage) {
        self.connection?.webSocketReceived(message)
    }

    func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer) {
        self.connection?.pongArrived()
    }

    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool) {
        if isWritable { self.connection?.webSocketWritable() }
    }

    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?) {
        let reason =
            error.map { EngineIOClientConnection.engineError($0) }
            ?? EngineIOError(.closed, message: "the server closed the WebSocket\(code.map { " with \($0)" } ?? "")")
        self.connection?.webSocketEnded(reason)
    }
}
