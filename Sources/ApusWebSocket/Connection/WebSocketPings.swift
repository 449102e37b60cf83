import ApusWebSocketProtocol
import NIOCore

/// The pings of ours that were not answered yet.
///
/// A Pong answers the newest ping with its payload and all older ones: RFC 6455 5.5.3, "the endpoint MAY elect to send a Pong frame
/// for only the most recently processed Ping frame".
struct WebSocketPings {
    struct Ping {
        let number: UInt64
        let sentAt: NIODeadline
        var roundTrip: Duration = .zero
        /// Ends the wait. Called exactly once.
        let finish: (Result<Duration, any Error>) -> Void
    }

    private var waiting: [Ping] = []
    /// The upper half of the numbers: the lower one is the heartbeat's.
    private var lastNumber: UInt64 = 1 << 63

    /// A new ping; its payload tells it from the others.
    mutating func sent(at now: NIODeadline, finish: @escaping (Result<Duration, any Error>) -> Void) -> (
        number: UInt64, payload: ByteBuffer
    ) {
        self.lastNumber &+= 1
        self.waiting.append(Ping(number: self.lastNumber, sentAt: now, finish: finish))
        return (self.lastNumber, ByteBuffer(integer: self.lastNumber))
    }

    /// A Pong came. Answers the pings it settles and the round trip of the one it names.
    mutating func answered(by payload: ByteBuffer, at now: NIODeadline) -> (pings: [Ping], roundTrip: Duration?) {
        guard payload.readableBytes == 8, let number = payload.getInteger(at: payload.readerIndex, as: UInt64.self),
            let index = self.waiting.firstIndex(where: { $0.number == number })
        else { return ([], nil) }
        var settled = Array(self.waiting[...index])
        self.waiting.removeFirst(index + 1)
        let roundTrip = Duration(now - settled[index].sentAt)
        for place in settled.indices { settled[place].roundTrip = Duration(now - settled[place].sentAt) }
        return (settled, roundTrip)
    }

    /// The wait for one ping is over without an answer.
    mutating func abandoned(_ number: UInt64) -> Ping? {
        guard let index = self.waiting.firstIndex(where: { $0.number == number }) else { return nil }
        return self.waiting.remove(at: index)
    }

    /// The connection is over.
    mutating func ended() -> [Ping] {
        defer { self.waiting = [] }
        return self.waiting
    }
}

extension WebSocketConnection {
    /// Sends a Ping and waits for its Pong.
    ///
    /// - Parameter timeout: How long the answer may take. Default: 10 seconds.
    /// - Returns: The round-trip time, which is also ``latency`` from now on.
    /// - Throws: ``WebSocketError/Code/timeout``, the error that ended the connection, or `CancellationError`.
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
                connection.pings.abandoned(number)?.finish(.failure(CancellationError()))
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
        guard let handler = self.handler, handler.isOpen else {
            return finish(.failure(self.closure?.error ?? WebSocketError(.closed, message: "the connection is closed")))
        }
        var timer: Scheduled<Void>?
        let ping = self.pings.sent(at: self.eventLoop.now) { result in
            timer?.cancel()
            finish(result)
        }
        number.value = ping.number
        timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.pings.abandoned(ping.number)?.finish(
                .failure(WebSocketError(.timeout, message: "no Pong within \(timeout)")))
        }
        handler.sendPing(ping.payload)
    }
}
