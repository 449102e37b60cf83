import ApusWebSocketProtocol
import Atomics
import NIOConcurrencyHelpers

/// A ``WebSocketOutboxStateMachine`` with its lock and the senders' continuations.
final class WebSocketOutbox: Sendable {
    private struct Storage: Sendable {
        var machine: WebSocketOutboxStateMachine
        var continuations: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastNumber = 0
    }

    private let storage: NIOLockedValueBox<Storage>
    /// Whether ``takeAll()`` would return an item. The event loop checks this value, without the
    /// lock, before each message that it sends.
    private let waiting = ManagedAtomic(false)
    /// The closure that schedules ``takeAll()`` on the event loop. It is called on any thread.
    private let scheduleHop: @Sendable () -> Void

    init(flow: WebSocketFlowControl, scheduleHop: @escaping @Sendable () -> Void) {
        self.storage = NIOLockedValueBox(Storage(machine: WebSocketOutboxStateMachine(flow: flow)))
        self.scheduleHop = scheduleHop
    }

    /// Whether items wait for the event loop. Includes the items of all sends that have returned.
    var isWaiting: Bool { self.waiting.load(ordering: .acquiring) }

    private func withStorage<Result>(_ body: (inout Storage) -> Result) -> Result {
        self.storage.withLockedValue { storage in
            defer { self.waiting.store(storage.machine.isWaiting, ordering: .releasing) }
            return body(&storage)
        }
    }

    /// Returns a number that is unique in this outbox.
    func nextNumber() -> Int {
        self.storage.withLockedValue { storage in
            storage.lastNumber &+= 1
            return storage.lastNumber
        }
    }

    /// Waits for free space in the queue, then queues the item.
    func send(_ item: OutboundItem) async throws {
        try Task.checkCancellation()
        let sender = self.nextNumber()
        // `withLoopOperation` is not used: a send that does not wait ends on the caller's thread,
        // without a hop.
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // `nil` means that the task was cancelled before the continuation was stored.
                let action: WebSocketOutboxStateMachine.SendAction? = self.withStorage { storage in
                    if Task.isCancelled { return nil }
                    let action = storage.machine.send(item, sender: sender)
                    if case .wait = action { storage.continuations[sender] = continuation }
                    return action
                }
                switch action {
                case nil:
                    continuation.resume(throwing: CancellationError())
                case .queued(let scheduleHop):
                    // Schedule before the sender resumes, so that the hop precedes its next action.
                    if scheduleHop { self.scheduleHop() }
                    continuation.resume()
                case .wait:
                    break
                case .refuse(let error):
                    continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            let continuation = self.storage.withLockedValue { storage in
                storage.machine.cancelled(sender: sender) ? storage.continuations.removeValue(forKey: sender) : nil
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Queues a message without waiting.
    func post(_ message: WebSocketMessage) -> WebSocketOutboxStateMachine.PostAction {
        let action = self.withStorage { $0.machine.post(message) }
        switch action {
        case .queued(scheduleHop: true), .overflow(_, scheduleHop: true): self.scheduleHop()
        case .queued(scheduleHop: false), .overflow(_, scheduleHop: false), .refuse: break
        }
        return action
    }

    /// Returns the items to write now, and whether the limit must be checked afterwards. Must be
    /// called on the event loop.
    func takeAll() -> (items: [OutboundItem], limitCheckIsDue: Bool) {
        self.withStorage { ($0.machine.hopped(), $0.machine.limitCheckIsDue()) }
    }

    /// Updates the transport's state after a write, and when its buffer crosses a watermark. Must
    /// be called on the event loop.
    func transportBecame(writable: Bool, holding bytes: Int) {
        let (senders, scheduleHop) = self.withStorage { storage in
            let action = storage.machine.transportBecame(writable: writable, holding: bytes)
            return (action.senders.compactMap { storage.continuations.removeValue(forKey: $0) }, action.scheduleHop)
        }
        for sender in senders { sender.resume() }
        if scheduleHop { self.scheduleHop() }
    }

    func ended(_ error: WebSocketError) {
        let senders = self.withStorage { storage in
            storage.machine.ended(error).compactMap { storage.continuations.removeValue(forKey: $0) }
        }
        for sender in senders { sender.resume(throwing: error) }
    }
}
