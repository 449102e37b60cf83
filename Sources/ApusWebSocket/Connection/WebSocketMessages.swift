public import ApusWebSocketProtocol
import NIOConcurrencyHelpers

/// The received messages of a connection, in order.
///
/// Ends after an orderly close by either side. If the connection failed, throws a
/// ``WebSocketError`` after the last message. Reading from the peer stops while the queue is full
/// (``WebSocketFlowControl``), so that a slow reader slows the peer down. Several loops, concurrent
/// or consecutive, share the messages: each message goes to one of them.
public struct WebSocketMessages: AsyncSequence, Sendable {
    /// The type of the received messages.
    public typealias Element = WebSocketMessage

    let inbox: WebSocketInbox

    /// Creates an iterator that continues after the messages already read.
    public func makeAsyncIterator() -> Iterator { Iterator(inbox: self.inbox) }

    /// The iterator of ``WebSocketMessages``.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: WebSocketInbox

        /// Returns the next message; `nil` after the last one, and when the task is cancelled.
        public mutating func next() async throws -> WebSocketMessage? { try await self.inbox.next() }
    }
}

/// The lock around ``WebSocketInboxStateMachine``, and the readers' continuations.
final class WebSocketInbox: Sendable {
    private struct Storage: Sendable {
        var machine: WebSocketInboxStateMachine
        var continuations: [Int: CheckedContinuation<WebSocketMessage?, any Error>] = [:]
        var lastReader = 0
    }

    private let storage: NIOLockedValueBox<Storage>
    /// Called from any thread when the queue has room again.
    private let resumeReading: @Sendable () -> Void

    init(flow: WebSocketFlowControl, resumeReading: @escaping @Sendable () -> Void) {
        self.storage = NIOLockedValueBox(Storage(machine: WebSocketInboxStateMachine(flow: flow)))
        self.resumeReading = resumeReading
    }

    /// Whether the queue is full.
    var isPaused: Bool { self.storage.withLockedValue { $0.machine.isPaused } }

    /// Queues a message or passes it to a reader. Returns whether reading must stop.
    func received(_ message: WebSocketMessage) -> Bool {
        let (reader, pause): (CheckedContinuation<WebSocketMessage?, any Error>?, Bool) = self.storage.withLockedValue { storage in
            switch storage.machine.received(message) {
            case .resume(let reader): (storage.continuations.removeValue(forKey: reader), false)
            case .pauseReading: (nil, true)
            case .doNothing: (nil, false)
            }
        }
        reader?.resume(returning: message)
        return pause
    }

    func ended(_ error: WebSocketError?) {
        let readers = self.storage.withLockedValue { storage in
            storage.machine.ended(error).compactMap { storage.continuations.removeValue(forKey: $0) }
        }
        for reader in readers {
            if let error { reader.resume(throwing: error) } else { reader.resume(returning: nil) }
        }
    }

    /// Returns the queued messages for a handler, which also takes all later ones.
    func takeOver() -> [WebSocketMessage] {
        let (messages, readers, resume) = self.storage.withLockedValue { storage in
            let taken = storage.machine.handlerTakesOver()
            return (taken.messages, taken.readers.compactMap { storage.continuations.removeValue(forKey: $0) }, taken.resumeReading)
        }
        for reader in readers { reader.resume(returning: nil) }
        if resume { self.resumeReading() }
        return messages
    }

    func next() async throws -> WebSocketMessage? {
        let reader = self.storage.withLockedValue { storage in
            storage.lastReader &+= 1
            return storage.lastReader
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                // Checked inside the lock: an earlier cancellation found no continuation.
                let action: WebSocketInboxStateMachine.NextAction = self.storage.withLockedValue { storage in
                    if Task.isCancelled { return .finish(nil) }
                    let action = storage.machine.next(reader: reader)
                    if case .wait = action { storage.continuations[reader] = continuation }
                    return action
                }
                switch action {
                case .deliver(let message, let resumeReading):
                    if resumeReading { self.resumeReading() }
                    continuation.resume(returning: message)
                case .wait:
                    break
                case .finish(let error?):
                    continuation.resume(throwing: error)
                case .finish(nil):
                    continuation.resume(returning: nil)
                }
            }
        } onCancel: {
            let continuation = self.storage.withLockedValue { storage in
                storage.machine.cancelled(reader: reader) ? storage.continuations.removeValue(forKey: reader) : nil
            }
            continuation?.resume(returning: nil)
        }
    }
}
