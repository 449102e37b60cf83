import ApusSocketIOProtocol
import Atomics
import NIOConcurrencyHelpers

/// An application's handler of an event. Errors that it throws are passed to the configuration's
/// `onHandlerError`.
enum SocketIOHandler: Sendable {
    /// Runs immediately on the event loop.
    case synchronous(@Sendable (SocketIOReceivedEvent) throws -> Void)
    /// Runs in a task. The events of a socket run one after the other.
    case asynchronous(@Sendable (SocketIOReceivedEvent) async throws -> Void)
}

/// Runs a socket's asynchronous work in order, and limits the amount of waiting work.
final class SocketIOHandlerQueue: Sendable {
    private struct Item: Sendable {
        var bytes: Int
        var work: @Sendable () async -> Void
    }

    private let continuation: AsyncStream<Item>.Continuation
    private let waitingBytes: SocketIOWaitingBytes

    /// - Parameters:
    ///   - maximumWaiting: The maximum number of waiting items. Further work is refused.
    ///   - waitingBytes: The count of the client's waiting bytes, and the limit of the count.
    init(maximumWaiting: Int, waitingBytes: SocketIOWaitingBytes) {
        let (stream, continuation) = AsyncStream.makeStream(of: Item.self, bufferingPolicy: .bufferingOldest(maximumWaiting))
        self.continuation = continuation
        self.waitingBytes = waitingBytes
        // The task ends when the queue is finished and the waiting items have run.
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

/// The number of bytes of one client's events that wait for asynchronous handlers. It increases on
/// the client's event loop, and decreases where the handlers run.
final class SocketIOWaitingBytes: Sendable {
    let maximum: Int
    private let bytes = ManagedAtomic(0)

    init(maximum: Int) {
        self.maximum = maximum
    }

    /// Adds an event of `count` bytes. Returns `false` if the total would exceed the limit. If no
    /// event waits, an event of any size is added.
    func add(_ count: Int) -> Bool {
        let before = self.bytes.loadThenWrappingIncrement(by: count, ordering: .relaxed)
        guard before > 0, count > max(0, self.maximum - before) else { return true }
        self.remove(count)
        return false
    }

    /// Removes an event that no longer waits.
    func remove(_ count: Int) { self.bytes.wrappingDecrement(by: count, ordering: .relaxed) }
}
