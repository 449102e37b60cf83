import ApusWebSocketProtocol
import NIOCore

/// Hears how long the Pong took, or why there is none. Called exactly once.
typealias WebSocketPingWaiter = (Result<Duration, any Error>) -> Void

extension WebSocketConnection {
    /// Sends a Ping and waits for its Pong.
    ///
    /// - Parameter timeout: How long the answer may take. Default: 10 seconds.
    /// - Returns: The round-trip time, which is also ``latency`` from now on.
    /// - Throws: ``WebSocketError/Code/timeout``, ``WebSocketError/Code/queueFull`` (64 wait already), the error that ended the connection, or `CancellationError`.
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

    /// The number of one call's ping. Touched on the event loop only.
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
            return finish(.failure(WebSocketError(.queueFull, message: "\(self.pings.count) pings wait for their Pongs already")))
        }
        number.value = sent
        timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.pings.abandon(sent)?(.failure(WebSocketError(.timeout, message: "no Pong within \(timeout)")))
        }
    }

    /// Sends a Ping, on the event loop. Answers its number; `nil` when the connection is not open, or too many Pings wait for their Pongs:
    /// then nothing was sent and `waiter` will not be called.
    func sendPing(_ waiter: @escaping WebSocketPingWaiter) -> UInt64? {
        guard let handler = self.handler, handler.isOpen, let ping = self.pings.begin(waiter, at: self.sinceBoot) else { return nil }
        handler.sendPing(ping.payload)
        return ping.id
    }

    /// Settles the pings that a Pong answers. Answers the round trip of the one it names.
    func settlePings(_ payload: ByteBuffer) -> (settled: [() -> Void], roundTrip: Duration?) {
        let now = self.sinceBoot
        let pings = self.pings.receivedPong(payload)
        return (pings.map { ping in { ping.waiter(.success(now - ping.sentAt)) } }, pings.last.map { now - $0.sentAt })
    }

    private var sinceBoot: Duration { Duration(self.eventLoop.now - NIODeadline.uptimeNanoseconds(0)) }
}
