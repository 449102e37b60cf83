import ApusEventLoop
import ApusWebSocketProtocol
public import NIOCore
import NIOPosix

/// Opens single connections, which do not reconnect. For reconnection, use ``WebSocketSession``.
public enum WebSocketClient {
    /// Opens a connection.
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`.
    ///   - configuration: The configuration of the connection.
    ///   - eventLoop: The event loop of the connection. Default: one of the process-wide group.
    ///   - onOpen: A closure that sets handlers. It is called on the connection's event loop before
    ///     the first message or the close is reported, and must not block.
    /// - Returns: The open connection, which the caller must close.
    /// - Throws: `WebSocketError`. After a response with a status other than 101, the code is
    ///   `WebSocketError.Code.connectionRefused`, and `WebSocketError.refusal` contains the
    ///   response. `CancellationError` if the task was cancelled.
    public static func connect(
        to url: String, configuration: WebSocketClientConfiguration = .init(), on eventLoop: (any EventLoop)? = nil,
        onOpen: (@Sendable (WebSocketConnection) -> Void)? = nil
    ) async throws -> WebSocketConnection {
        let eventLoop = eventLoop ?? MultiThreadedEventLoopGroup.singleton.next()
        return try await withLoopOperation(on: eventLoop) { operation in
            let opener = WebSocketOpener(url: url, configuration: configuration, eventLoop: eventLoop)
            opener.futureResult.assumeIsolated().whenComplete { result in
                // Runs synchronously, before the first byte of the WebSocket is read.
                if case .success(let connection) = result { onOpen?(connection) }
                operation.end(with: result)
            }
            operation.whenCancelled { opener.cancel() }
        }
    }

    /// Opens a connection, calls `body` with it, and closes it when `body` returns (1000) or throws
    /// (1001).
    ///
    /// - Parameters:
    ///   - url: `ws://host:port/path?query` or `wss://…`.
    ///   - configuration: The configuration of the connection.
    ///   - eventLoop: The event loop of the connection. Default: one of the process-wide group.
    ///   - isolation: The isolation of `body`. Default: the caller's.
    ///   - body: The closure to call with the open connection.
    /// - Returns: The result of `body`, after the close handshake.
    /// - Throws: The errors of ``connect(to:configuration:on:onOpen:)`` and of `body`.
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
