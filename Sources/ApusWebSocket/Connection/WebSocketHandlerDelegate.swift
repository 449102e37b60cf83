package import ApusWebSocketProtocol
package import NIOCore

/// What hears a ``WebSocketHandler``. All calls come on the channel's event loop.
package protocol WebSocketHandlerDelegate: AnyObject {
    /// A whole message came. Sending and closing from here are fine.
    func webSocket(_ handler: WebSocketHandler, received message: WebSocketMessage)

    /// A Pong came: the answer to a Ping of ours with that payload, or one nobody asked for. The default does nothing.
    func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer)

    /// All messages of one read were given out; what is sent up to the end of this call leaves in the same write.
    func webSocketReadComplete(_ handler: WebSocketHandler)

    /// The transport's buffer rose above its high or fell below its low watermark.
    func webSocketWritabilityChanged(_ handler: WebSocketHandler, isWritable: Bool)

    /// The application goes down. The default closes with ``WebSocketCloseCode/goingAway``.
    func webSocketShouldClose(_ handler: WebSocketHandler)

    /// The connection is over: exactly once, and the last call.
    ///
    /// - Parameters:
    ///   - code: The code of the peer's Close frame (``WebSocketCloseCode/noStatusReceived`` for an empty one), or of the
    ///     one we sent because a rule was broken. `nil` when there was none.
    ///   - error: Why, when it was not an orderly close nor our own ``WebSocketHandler/abort()``.
    func webSocketClosed(_ handler: WebSocketHandler, code: WebSocketCloseCode?, error: WebSocketError?)
}

extension WebSocketHandlerDelegate {
    package func webSocket(_ handler: WebSocketHandler, receivedPong payload: ByteBuffer) {}

    package func webSocketShouldClose(_ handler: WebSocketHandler) { handler.close(code: .goingAway, reason: "") }
}
