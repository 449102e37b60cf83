import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

/// Receives the round-trip time of a ping or the error that ended the wait. Called exactly once.
typealias WebSocketPingWaiter = (Result<Duration, any Error>) -> Void

extension WebSocketConnection {
    /// Sends a Ping and waits for its Pong.
    ///
    /// - Parameter timeout: The time to wait for the Pong. Default: 10 seconds.
    /// - Returns: The round-trip time, which also becomes ``latency``.
    /// - Throws: ``WebSocketError/Code/timeout``, ``WebSocketError/Code/queueFull`` when 64 pings
    ///   are already pending, the error that ended the connection, or `CancellationError`.
    public func ping(timeout: Duration = .seconds(10)) async throws -> Duration {
        try await withLoopOperation(on: self.eventLoop) { self.ping($0, timeout: timeout) }
    }

    private func ping(_ operation: LoopOperation<Duration>, timeout: Duration) {
        guard self.handler?.isOpen == true else {
            return operation.fail(self.closure?.error ?? WebSocketError(.closed, message: "the connection is closed"))
        }
        guard let id = self.sendPing({ operation.end(with: $0) }) else {
            return operation.fail(
                WebSocketError(.queueFull, message: "too many pings: \(self.pings.count) already wait for a Pong"))
        }
        operation.expire(in: timeout) {
            _ = self.pings.abandon(id)
            return WebSocketError(.timeout, message: "no Pong received within \(timeout)")
        }
        operation.whenCancelled {
            _ = self.pings.abandon(id)
            operation.fail(CancellationError())
        }
    }

    /// Sends a Ping, on the event loop.
    ///
    /// - Returns: The number of the ping. `nil` if the connection is not open or too many pings are
    ///   pending: nothing was sent, and `waiter` is not called.
    func sendPing(_ waiter: @escaping WebSocketPingWaiter) -> UInt64? {
        guard let handler = self.handler, handler.isOpen, let ping = self.pings.begin(waiter, at: self.sinceBoot) else { return nil }
        handler.sendPing(ping.payload)
        return ping.id
    }

    /// Removes the pings that a Pong answers. Returns their waiters, and the round-trip time of the
    /// ping that the Pong names.
    func settlePings(_ payload: ByteBuffer) -> (settled: [(waiter: WebSocketPingWaiter, roundTrip: Duration)], roundTrip: Duration?) {
        let now = self.sinceBoot
        let settled = self.pings.receivedPong(payload).map { (waiter: $0.waiter, roundTrip: now - $0.sentAt) }
        return (settled, settled.last?.roundTrip)
    }

    private var sinceBoot: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }
}
