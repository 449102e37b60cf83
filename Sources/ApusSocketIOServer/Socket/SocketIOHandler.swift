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
    private struct Item: Sendable {
        var bytes: Int
        var work: @Sendable () async -> Void
    }

    private let continuation: AsyncStream<Item>.Continuation
    private let waitingBytes: SocketIOWaitingBytes

    /// - Parameters:
    ///   - maximumWaiting: The bound on their number; work beyond it is refused.
    ///   - waitingBytes: The bound on their bytes, the client's.
    init(maximumWaiting: Int, waitingBytes: SocketIOWaitingBytes) {
        let (stream, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(maximumWaiting))
        self.continuation = continuation
        self.waitingBytes = waitingBytes
        // Owned by the stream: it ends when the queue is finished and what waited has run.
        Task {
            for await item in stream {
                await item.work()
                waitingBytes.remove(item.bytes)
            }
        }
    }

    enum Verdict { case taken, tooMany, tooLarge }

    /// Takes work for an event of so many bytes, unless a bound is reached.
    func enqueue(bytes: Int, _ work: @escaping @Sendable () async -> Void) -> Verdict {
        guard self.waitingBytes.add(bytes) else { return .tooLarge }
        if case .enqueued = self.continuation.yield(Item(bytes: bytes, work: work)) { return .taken }
        self.waitingBytes.remove(bytes)
        return .tooMany
    }

    func finish() { self.continuation.finish() }
}
