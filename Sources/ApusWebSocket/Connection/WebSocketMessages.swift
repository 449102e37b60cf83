public import ApusWebSocketProtocol
import NIOConcurrencyHelpers

/// The messages of a connection, in order.
///
/// Ends when either side closed in order, and throws a ``WebSocketError`` after the last message when the connection failed.
/// What nobody takes makes the connection stop reading (``WebSocketFlowControl``), so that a slow reader slows the peer down.
/// Several loops, one after the other or at a time, share the messages: each message goes to one of them.
public struct WebSocketMessages: AsyncSequence, Sendable {
    /// What is received.
    public typealias Element = WebSocketMessage

    let inbox: WebSocketInbox

    /// Starts where the last reader stopped.
    public func makeAsyncIterator() -> Iterator { Iterator(inbox: self.inbox) }

    /// Takes one message at a time.
    public struct Iterator: AsyncIteratorProtocol {
        let inbox: WebSocketInbox

        /// The next message; `nil` after the last one, and when the task is cancelled.
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
    /// Called from any thread when there is room again.
    private let resumeReading: @Sendable () -> Void

    init(flow: WebSocketFlowControl, resumeReading: @escaping @Sendable () -> Void) {
        self.storage = NIOLockedValueBox(Storage(machine: WebSocketInboxStateMachine(flow: flow)))
        self.resumeReading = resumeReading
    }

    /// Whether there is no room.
    var isPaused: Bool { self.storage.withLockedValue { $0.machine.isPaused } }

    /// Keeps a message or hands it to a reader. `true`: reading must stop.
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

    /// A handler wants what is here and what comes.
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
                // Looked at inside the lock: a cancellation before this point found nobody to cancel.
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
