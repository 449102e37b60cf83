public import ApusWebSocketProtocol
import NIOConcurrencyHelpers
import NIOCore

extension WebSocketSession {
    /// Wants the connection, and waits until it is open.
    ///
    /// Attempts that fail meanwhile are repeated as the policy says. When this throws for its deadline or because the task was cancelled,
    /// the session goes on trying.
    ///
    /// - Parameter timeout: How long to wait. Default: 30 seconds.
    /// - Throws: ``WebSocketError/Code/timeout`` with the last failure as its cause; when the session ended, what ended it.
    public func connect(timeout: Duration = .seconds(30)) async throws {
        let core = self.core
        let id = WaiterID.next()
        let isCancelled = NIOLockedValueBox(false)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                core.onLoop { core in
                    // A cancellation that came to the event loop before us found nobody.
                    if isCancelled.withLockedValue({ $0 }) { return continuation.resume(throwing: CancellationError()) }
                    core.waitForOpen(id, timeout: timeout, continuation)
                }
            }
        } onCancel: {
            isCancelled.withLockedValue { $0 = true }
            core.onLoop { $0.waiters.giveUp(id, CancellationError()) }
        }
    }

    /// Sends a message; suspends while the transport's buffer is above its watermark.
    ///
    /// Without a connection the message waits in the queue (``WebSocketSessionConfiguration/queue``), and this returns. What was handed
    /// to a connection that breaks may be lost: WebSocket has no receipts.
    ///
    /// - Throws: ``WebSocketError/Code/queueFull``, ``WebSocketError/Code/closed`` after the end, `CancellationError`.
    public func send(_ message: WebSocketMessage) async throws {
        if let connection = self.connection {
            do {
                return try await connection.send(message)
            } catch is WebSocketError {
                // It broke while we waited. The message was not sent: it goes to the queue.
            }
        }
        let core = self.core
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            core.onLoop { core in continuation.resume(with: core.send(message).mapError { $0 }) }
        }
    }

    /// Sends or queues a message without waiting, from any thread.
    ///
    /// - Returns: `false` when it is known not to be sent: the session has ended, or there is no room. Off the event loop a queue that
    ///   turns out to be full is not told.
    @discardableResult
    public func post(_ message: WebSocketMessage) -> Bool {
        let core = self.core
        if core.eventLoop.inEventLoop {
            if case .success = core.send(message) { return true }
            return false
        }
        let (connection, state) = core.snapshot.withLockedValue { ($0.connection, $0.state) }
        if let connection { return connection.post(message) }
        guard !state.isEnded, state != .closing else { return false }
        core.onLoop { _ = $0.send(message) }
        return true
    }

    /// Sends a Ping and waits for its Pong.
    ///
    /// - Returns: The round-trip time, which is also ``latency`` from now on.
    /// - Throws: ``WebSocketError/Code/closed`` when there is no connection, ``WebSocketError/Code/timeout``, `CancellationError`.
    public func ping(timeout: Duration = .seconds(10)) async throws -> Duration {
        guard let connection = self.connection else {
            throw WebSocketError(.closed, message: "the session is \(self.state)")
        }
        return try await connection.ping(timeout: timeout)
    }

    /// Closes in order and waits for the end. No attempt follows.
    ///
    /// - Parameters:
    ///   - code: 1000, or 3000 to 4999 for the application's own.
    ///   - reason: At most 123 bytes are sent; one with CR, LF or NUL is left out.
    public func close(code: WebSocketCloseCode = .normalClosure, reason: String = "") async {
        let core = self.core
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            core.onLoop { core in
                core.close(code: code, reason: reason)
                guard !core.state.isEnded else { return continuation.resume() }
                core.waiters.waitForEnd(continuation)
            }
        }
    }

    /// Closes without waiting for the end.
    public func startClosing(code: WebSocketCloseCode = .normalClosure, reason: String = "") {
        self.core.onLoop { $0.close(code: code, reason: reason) }
    }

    /// Opens a session, lends it to `body` when it is open for the first time, and closes it when `body` returns (1000) or throws (1001).
    ///
    /// - Throws: What ``connect(timeout:)`` or `body` throws.
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

/// Numbers for those who wait, so that a cancellation finds the right one.
private enum WaiterID {
    private static let last = NIOLockedValueBox(0)

    static func next() -> Int {
        Self.last.withLockedValue { last in
            last &+= 1
            return last
        }
    }
}

extension WebSocketSessionCore {
    fileprivate func waitForOpen(_ id: Int, timeout: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
        self.connect(again: true)
        switch self.state {
        case .open:
            continuation.resume()
        case .closing, .closedByPeer, .closedByUser, .failed:
            continuation.resume(throwing: self.failure ?? WebSocketError(.closed, message: "the session is \(self.state)"))
        case .idle, .connecting, .waitingToReconnect:
            self.waiters.waitForOpen(id, continuation)
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
                guard let self else { return }
                let last = self.snapshot.withLockedValue { $0.lastError }
                self.waiters.giveUp(id, WebSocketError(.timeout, message: "no connection within \(timeout)", cause: last))
            }
        }
    }
}
