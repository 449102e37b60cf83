import ApusSocketIOProtocol
import NIOConcurrencyHelpers

/// An application's handler of an event. Errors it throws are passed to the configuration's
/// `onHandlerError`.
enum SocketIOHandler: Sendable {
    /// Runs immediately on the event loop.
    case synchronous(@Sendable (SocketIOReceivedEvent) throws -> Void)
    /// Runs in a task. The events of a socket run one after the other.
    case asynchronous(@Sendable (SocketIOReceivedEvent) async throws -> Void)
}

/// A handler of an event that is sent to a client.
typealias SocketIOOutgoingHandler = @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void

/// Runs a socket's asynchronous work in order and limits the waiting work.
final class SocketIOHandlerQueue: Sendable {
    private struct Item: Sendable {
        var bytes: Int
        var work: @Sendable () async -> Void
    }

    private let continuation: AsyncStream<Item>.Continuation
    private let waitingBytes: SocketIOWaitingBytes

    /// - Parameters:
    ///   - maximumWaiting: The maximum number of waiting items. Further work is refused.
    ///   - waitingBytes: The count of the client's waiting bytes, with its limit.
    init(maximumWaiting: Int, waitingBytes: SocketIOWaitingBytes) {
        let (stream, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(maximumWaiting))
        self.continuation = continuation
        self.waitingBytes = waitingBytes
        // Ends when the queue is finished and the waiting items have run.
        Task {
            for await item in stream {
                await item.work()
                waitingBytes.remove(item.bytes)
            }
        }
    }

    enum Verdict { case taken, tooMany, tooLarge }

    /// Enqueues work for an event of `bytes` bytes, unless a limit is reached.
    func enqueue(bytes: Int, _ work: @escaping @Sendable () async -> Void) -> Verdict {
        guard self.waitingBytes.add(bytes) else { return .tooLarge }
        if case .enqueued = self.continuation.yield(Item(bytes: bytes, work: work)) { return .taken }
        self.waitingBytes.remove(bytes)
        return .tooMany
    }

    func finish() { self.continuation.finish() }
}
