import ApusEventLoop
public import ApusWebSocketProtocol
import NIOConcurrencyHelpers
import NIOCore

extension WebSocketSession {
    /// Starts to connect and returns immediately. Observe ``states(bufferingPolicy:)``, or use
    /// ``connect(timeout:)``.
    public func open() {
        self.core.onLoop { $0.connect(again: true) }
    }

    /// Starts the session if necessary and waits until it is open.
    ///
    /// Failed attempts are repeated according to the policy. After a timeout or a cancellation of
    /// this call, the session continues to connect.
    ///
    /// - Parameter timeout: The time to wait. Default: 30 seconds.
    /// - Throws: `WebSocketError.Code.timeout` with the last failure as its cause,
    ///   `CancellationError`, or the error that ended the session.
    public func connect(timeout: Duration = .seconds(30)) async throws {
        let core = self.core
        try await withLoopOperation(on: core.eventLoop) { core.value.connect($0, timeout: timeout) }
    }

    /// Sends a message. Suspends while the transport's buffer is above its high watermark.
    ///
    /// Without a connection, the message is queued (``WebSocketSessionConfiguration/queue``) and
    /// the call returns. A message passed to a connection that then fails may be lost, since
    /// WebSocket has no acknowledgements.
    ///
    /// - Throws: `WebSocketError.Code.queueFull`, `WebSocketError.Code.closed` after the end,
    ///   `CancellationError`.
    public func send(_ message: WebSocketMessage) async throws {
        if let connection = self.connection {
            do {
                return try await connection.send(message)
            } catch is WebSocketError {
                // The connection ended during the wait, and the message was not sent: it is queued.
            }
        }
        let core = self.core
        try await core.eventLoop.submit { try core.value.send(message).get() }.get()
    }

    /// Sends or queues a message without waiting, from any thread.
    ///
    /// - Returns: `false` if the message is known not to be sent: the session has ended, or the
    ///   limit is exceeded. Off the event loop, an overflow of the session's queue is not reported.
    @discardableResult
    public func post(_ message: WebSocketMessage) -> Bool {
        let core = self.core
        if core.eventLoop.inEventLoop {
            if case .success = core.value.send(message) { return true }
            return false
        }
        let (connection, state) = self.lifetime.snapshot.withLockedValue { ($0.connection, $0.state) }
        if let connection { return connection.post(message) }
        guard !state.isEnded, state != .closing else { return false }
        core.onLoop { _ = $0.send(message) }
        return true
    }

    /// Sends a Ping and waits for its Pong.
    ///
    /// - Returns: The round-trip time.
    /// - Throws: `WebSocketError.Code.closed` without a connection, and the errors of
    ///   ``WebSocketConnection/ping(timeout:)``.
    public func ping(timeout: Duration = .seconds(10)) async throws -> Duration {
        guard let connection = self.connection else {
            throw WebSocketError(.closed, message: "the session is \(self.state)")
        }
        return try await connection.ping(timeout: timeout)
    }

    /// Closes the session and waits for the end. No further attempt is made.
    ///
    /// - Parameters:
    ///   - code: 1000, or an application code from 3000 to 4999.
    ///   - reason: Truncated to 123 bytes. Omitted if it contains CR, LF or NUL.
    public func close(code: WebSocketCloseCode = .normalClosure, reason: String = "") async {
        let ended = self.core.eventLoop.makePromise(of: Void.self)
        self.core.onLoop { core in
            core.close(code: code, reason: reason)
            if core.state.isEnded { ended.succeed() } else { core.waiters.waitForEnd(ended) }
        }
        try? await ended.futureResult.get()  // ignores cancellation
    }

    /// Closes the session without waiting for the end.
    public func startClosing(code: WebSocketCloseCode = .normalClosure, reason: String = "") {
        self.core.onLoop { $0.close(code: code, reason: reason) }
    }

    /// Opens a session, calls `body` when it is first open, and closes it when `body` returns
    /// (1000) or throws (1001).
    ///
    /// - Throws: The errors of ``connect(timeout:)`` and of `body`.
    public static func withConnection<Result>(
        to url: String, configuration: WebSocketSessionConfiguration = .init(), isolation: isolated (any Actor)? = #isolation,
        _ body: (WebSocketSession) async throws -> Result
    ) async throws -> Result {
        let session = WebSocketSession(url, configuration: configuration)
        let result: Result
        do {
            try await session.connect()
            result = try await body(session)
        } catch {
            await session.close(code: .goingAway)
            throw error
        }
        await session.close()
        return result
    }
}
