import ApusWebSocketProtocol
public import NIOCore
import NIOPosix

/// Opens one connection that is not opened again when it is lost; ``WebSocketSession`` is for one that stays up.
public enum WebSocketClient {
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`.
    ///   - configuration: How.
    ///   - eventLoop: Where the connection lives. Default: one of the process's.
    ///   - onOpen: Called on the connection's event loop before its first message, to set its handlers: no message, and no end, can come
    ///     between. It must not block.
    /// - Returns: The open connection; close it when you are done.
    /// - Throws: ``WebSocketError``. When the server answered with another status than 101 it is
    ///   ``WebSocketError/Code/connectionRefused``, with the response in ``WebSocketError/refusal``. `CancellationError` when the
    ///   task was cancelled.
    public static func connect(
        to url: String, configuration: WebSocketClientConfiguration = .init(), on eventLoop: (any EventLoop)? = nil,
        onOpen: (@Sendable (WebSocketConnection) -> Void)? = nil
    ) async throws -> WebSocketConnection {
        let eventLoop = eventLoop ?? MultiThreadedEventLoopGroup.singleton.next()
        let canceller = WebSocketOpenerCanceller()
        return try await withTaskCancellationHandler {
            try await eventLoop.flatSubmit {
                let opener = WebSocketOpener(url: url, configuration: configuration, eventLoop: eventLoop)
                canceller.started(opener)
                // Inline: this is the place before the first byte of the WebSocket is read.
                opener.futureResult.assumeIsolated().whenSuccess { onOpen?($0) }
                return opener.futureResult
            }.get()
        } onCancel: {
            eventLoop.execute { canceller.cancel() }
        }
    }

    /// Opens a connection, lends it to `body`, and closes it when `body` returns (1000) or throws (1001).
    ///
    /// - Returns: What `body` returns, after the close handshake.
    public static func withConnection<Result>(
        to url: String, configuration: WebSocketClientConfiguration = .init(), on eventLoop: (any EventLoop)? = nil,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (WebSocketConnection) async throws -> Result
    ) async throws -> Result {
        let connection = try await Self.connect(to: url, configuration: configuration, on: eventLoop)
        let result: Result
        do {
            result = try await body(connection)
        } catch {
            await connection.close(code: .goingAway)
            throw error
        }
        await connection.close()
        return result
    }
}

/// Cancels an opener that may not have started yet. Touched on the event loop only.
private final class WebSocketOpenerCanceller: @unchecked Sendable {
    private var opener: WebSocketOpener?
    private var isCancelled = false

    func started(_ opener: WebSocketOpener) {
        if self.isCancelled { return opener.cancel() }
        self.opener = opener
        opener.futureResult.assumeIsolated().whenComplete { _ in self.opener = nil }
    }

    func cancel() {
        self.isCancelled = true
        self.opener?.cancel()
    }
}
