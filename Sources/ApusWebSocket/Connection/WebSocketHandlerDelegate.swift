package import ApusWebSocketProtocol
package import NIOCore

/// The receiver of a ``WebSocketHandler``'s messages and events. All calls are made on the
/// channel's event loop.
package protocol WebSocketHandlerDelegate: AnyObject {
    /// A whole message was received. The delegate may send and close within this call.
    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage)

    /// A Pong was received, solicited or not. The default implementation does nothing.
    func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer)

    /// All messages of one read were delivered. Messages sent within this call leave in the same
    /// write as the responses.
    func webSocketReadComplete(_ handler: WebSocketHandler)

    /// The transport's buffer rose above its high or fell below its low watermark.
    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool)

    /// The application is shutting down. The default implementation closes with
    /// ``WebSocketCloseCode/goingAway``.
    func webSocketShouldClose(_ handler: WebSocketHandler)

    /// The connection has ended. The last call, made exactly once.
    ///
    /// - Parameters:
    ///   - code: The code of the peer's Close frame (``WebSocketCloseCode/noStatusReceived`` if it
    ///     was empty), or of the Close frame sent after a protocol violation. `nil` without a Close
    ///     frame.
    ///   - error: The error that ended the connection; `nil` after an orderly close and after
    ///     ``WebSocketHandler/abort(_:)`` without an error.
    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?)
}

extension WebSocketHandlerDelegate {
    package func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer) {}

    package func webSocketShouldClose(_ handler: WebSocketHandler) { handler.close(code: .goingAway, reason: "") }
}
