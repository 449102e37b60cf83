import ApusWebSocketProtocol
import NIOConcurrencyHelpers

/// The lock around ``WebSocketOutboxStateMachine``, and the senders' continuations.
final class WebSocketOutbox: Sendable {
    private struct Storage: Sendable {
        var machine: WebSocketOutboxStateMachine
        var continuations: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastSender = 0
    }

    private let storage: NIOLockedValueBox<Storage>
    /// Called from any thread: the event loop is to call ``takeAll()``.
    private let hop: @Sendable () -> Void

    init(flow: WebSocketFlowControl, hop: @escaping @Sendable () -> Void) {
        self.storage = NIOLockedValueBox(Storage(machine: WebSocketOutboxStateMachine(flow: flow)))
        self.hop = hop
    }

    /// Suspends until there is room, then queues.
    func send(_ message: WebSocketMessage) async throws {
        try Task.checkCancellation()
        let sender = self.storage.withLockedValue { storage in
            storage.lastSender &+= 1
            return storage.lastSender
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                // `nil`: cancelled before there was anybody to cancel.
                let action: WebSocketOutboxStateMachine.SendAction? = self.storage.withLockedValue { storage in
                    if Task.isCancelled { return nil }
                    let action = storage.machine.send(message, sender: sender)
                    if case .wait = action { storage.continuations[sender] = continuation }
                    return action
                }
                switch action {
                case nil:
                    continuation.resume(throwing: CancellationError())
                case .queued(let scheduleHop):
                    // The hop first: whoever goes on must find it under way.
                    if scheduleHop { self.hop() }
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

    /// Queues without waiting.
    func post(_ message: WebSocketMessage) -> WebSocketOutboxStateMachine.PostAction {
        let action = self.storage.withLockedValue { $0.machine.post(message) }
        if case .queued(scheduleHop: true) = action { self.hop() }
        return action
    }

    /// On the event loop: what is to be written now.
    func takeAll() -> [WebSocketMessage] {
        self.storage.withLockedValue { $0.machine.hopped() }
    }

    /// On the event loop: after a write, and when the transport's buffer crossed a watermark.
    func transportBecame(writable: Bool) {
        let (senders, scheduleHop) = self.storage.withLockedValue { storage in
            let action = storage.machine.transportBecame(writable: writable)
            return (action.senders.compactMap { storage.continuations.removeValue(forKey: $0) }, action.scheduleHop)
        }
        for sender in senders { sender.resume() }
        if scheduleHop { self.hop() }
    }

    func ended(_ error: WebSocketError) {
        let senders = self.storage.withLockedValue { storage in
            storage.machine.ended(error).compactMap { storage.continuations.removeValue(forKey: $0) }
        }
        for sender in senders { sender.resume(throwing: error) }
    }
}
