public import NIOConcurrencyHelpers

/// The elements that an event loop receives and tasks read: the shell of ``InboxStateMachine``.
///
/// Each element is passed to one reader. The source must pause while the inbox is full.
@usableFromInline
package final class Inbox<Element: Sendable, Failure: Error>: Sendable {
    /// A continuation cannot throw a typed error, so a reader receives a result instead.
    @usableFromInline
    typealias Reader = CheckedContinuation<Result<Element?, Failure>, Never>

    @usableFromInline
    struct Storage: Sendable {
        @usableFromInline var machine: InboxStateMachine<Element, Failure>
        @usableFromInline var continuations: [Int: Reader] = [:]
        @usableFromInline var lastReader = 0

        @inlinable
        init(machine: InboxStateMachine<Element, Failure>) {
            self.machine = machine
        }
    }

    @usableFromInline let storage: NIOLockedValueBox<Storage>
    @usableFromInline let resumeSource: @Sendable () -> Void

    /// Creates an inbox.
    ///
    /// - Parameters:
    ///   - maximumCount: The number of unread elements at which the source must pause.
    ///   - maximumBytes: The total size of the unread elements at which the source must pause.
    ///   - resumeSource: Called from any thread when the source may resume.
    @inlinable
    package init(maximumCount: Int, maximumBytes: Int, resumeSource: @escaping @Sendable () -> Void) {
        self.storage = NIOLockedValueBox(Storage(machine: InboxStateMachine(maximumCount: maximumCount, maximumBytes: maximumBytes)))
        self.resumeSource = resumeSource
    }

    /// Whether the source must pause.
    @inlinable
    package var isPaused: Bool { self.storage.withLockedValue { $0.machine.isPaused } }

    /// Queues an element or passes it to a reader; discards it after the end. Returns `true` if the
    /// inbox became full with this element, so that the source must pause.
    @inlinable
    package func received(_ element: Element, bytes: Int) -> Bool {
        let (reader, pause): (Reader?, Bool) = self.storage.withLockedValue { storage in
            switch storage.machine.received(element, bytes: bytes) {
            case .resume(let reader): (storage.continuations.removeValue(forKey: reader), false)
            case .pauseSource: (nil, true)
            case .doNothing: (nil, false)
            }
        }
        reader?.resume(returning: .success(element))
        return pause
    }

    /// Ends the inbox. Readers receive the queued elements first, then the error or `nil`.
    @inlinable
    package func ended(_ error: Failure?) {
        let readers = self.storage.withLockedValue { storage in
            storage.machine.ended(error).compactMap { storage.continuations.removeValue(forKey: $0) }
        }
        let result: Result<Element?, Failure> = error.map { .failure($0) } ?? .success(nil)
        for reader in readers { reader.resume(returning: result) }
    }

    /// Returns the queued elements for another consumer, and ends the waiting readers with `nil`.
    /// The caller must pass later elements to that consumer instead of ``received(_:bytes:)``.
    @inlinable
    package func takeOver() -> [Element] {
        let (elements, readers, resumesSource) = self.storage.withLockedValue { storage in
            let taken = storage.machine.takeOver()
            return (taken.elements, taken.readers.compactMap { storage.continuations.removeValue(forKey: $0) }, taken.resumesSource)
        }
        for reader in readers { reader.resume(returning: .success(nil)) }
        if resumesSource { self.resumeSource() }
        return elements
    }

    /// Returns the next element; `nil` after the last one, after ``takeOver()``, and when the task
    /// is cancelled.
    ///
    /// - Throws: The error with which the inbox ended, after the queued elements.
    @inlinable
    package func next() async throws(Failure) -> Element? {
        let reader = self.storage.withLockedValue { storage in
            storage.lastReader &+= 1
            return storage.lastReader
        }
        // Not `withLoopOperation`: a queued element is taken on the reader's thread, without a hop.
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: Reader) in
                // The cancellation is checked inside the lock, because an earlier cancellation
                // found no continuation.
                let action: InboxStateMachine<Element, Failure>.NextAction = self.storage.withLockedValue { storage in
                    if Task.isCancelled { return .finish(nil) }
                    let action = storage.machine.next(reader: reader)
                    if case .wait = action { storage.continuations[reader] = continuation }
                    return action
                }
                switch action {
                case .deliver(let element, let resumesSource):
                    if resumesSource { self.resumeSource() }
                    continuation.resume(returning: .success(element))
                case .wait:
                    break
                case .finish(let error?):
                    continuation.resume(returning: .failure(error))
                case .finish(nil):
                    continuation.resume(returning: .success(nil))
                }
            }
        } onCancel: {
            self.cancelled(reader)
        }
        return try result.get()
    }

    @inlinable
    func cancelled(_ reader: Int) {
        let continuation = self.storage.withLockedValue { storage in
            storage.machine.cancelled(reader: reader) ? storage.continuations.removeValue(forKey: reader) : nil
        }
        continuation?.resume(returning: .success(nil))
    }
}
