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
        let numbers = PingNumber()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Duration, any Error>) in
                self.onLoop { connection in
                    connection.startPing(timeout: timeout, number: numbers) { continuation.resume(with: $0) }
                }
            }
        } onCancel: {
            self.onLoop { connection in
                numbers.isCancelled = true
                guard let number = numbers.value else { return }
                connection.pings.abandon(number)?(.failure(CancellationError()))
            }
        }
    }

    /// The number of one call's ping. Accessed on the event loop only.
    private final class PingNumber: @unchecked Sendable {
        var value: UInt64?
        var isCancelled = false
    }

    private func startPing(
        timeout: Duration, number: PingNumber, finish: @escaping @Sendable (Result<Duration, any Error>) -> Void
    ) {
        guard !number.isCancelled else { return finish(.failure(CancellationError())) }
        guard self.handler?.isOpen == true else {
            return finish(.failure(self.closure?.error ?? WebSocketError(.closed, message: "the connection is closed")))
        }
        var timer: Scheduled<Void>?
        let sent = self.sendPing { result in
            timer?.cancel()
            finish(result)
        }
        guard let sent else {
            return finish(.failure(WebSocketError(.queueFull, message: "too many pings: \(self.pings.count) already wait for a Pong")))
        }
        number.value = sent
        timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.pings.abandon(sent)?(.failure(WebSocketError(.timeout, message: "no Pong received within \(timeout)")))
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

    /// Completes the pings that a Pong answers. Returns the calls to their waiters, and the
    /// round-trip time of the ping that the Pong names.
    func settlePings(_ payload: ByteBuffer) -> (settled: [() -> Void], roundTrip: Duration?) {
        let now = self.sinceBoot
        let pings = self.pings.receivedPong(payload)
        return (pings.map { ping in { ping.waiter(.success(now - ping.sentAt)) } }, pings.last.map { now - $0.sentAt })
    }

    private var sinceBoot: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }
}
