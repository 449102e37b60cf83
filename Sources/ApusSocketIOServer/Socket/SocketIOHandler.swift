import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// What the application does with an event. What it throws goes to the server's `onHandlerError`.
enum SocketIOHandler: Sendable {
    /// Runs on the event loop, at once.
    case synchronous(@Sendable (SocketIOEvent) throws -> Void)
    /// Runs in a task, one event of a socket after the other.
    case asynchronous(@Sendable (SocketIOEvent) async throws -> Void)
}

/// Hears of an event that goes to a client.
typealias SocketIOOutgoingHandler = @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void

/// Runs a socket's asynchronous work in order, with a bound on what waits.
final class SocketIOHandlerQueue: Sendable {
    private let continuation: AsyncStream<@Sendable () async -> Void>.Continuation

    /// - Parameter maximumWaiting: The bound; work beyond it is refused.
    init(maximumWaiting: Int) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: (@Sendable () async -> Void).self, bufferingPolicy: .bufferingOldest(maximumWaiting))
        self.continuation = continuation
        // Owned by the stream: it ends when the queue is finished and what waited has run.
        Task {
            for await work in stream { await work() }
        }
    }

    /// `false` when the bound is reached.
    func enqueue(_ work: @escaping @Sendable () async -> Void) -> Bool {
        if case .enqueued = self.continuation.yield(work) { true } else { false }
    }

    func finish() { self.continuation.finish() }
}
