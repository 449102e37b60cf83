public import DequeModule

/// The received elements that wait for the tasks that read them. Performs no I/O.
///
/// Readers are numbers; ``Inbox`` owns their continuations. A full inbox pauses the source.
@usableFromInline
package struct InboxStateMachine<Element, Failure: Error> {
    @usableFromInline
    enum State {
        /// The source is open. Transitions to `ended`.
        case open
        /// No further element is accepted; queued ones can still be read. Every reader receives the
        /// error after the queued elements.
        indirect case ended(Failure?)
    }

    @usableFromInline var state = State.open
    @usableFromInline var queue: BoundedQueue<Element>
    @usableFromInline var readers = Deque<Int>()

    /// Creates an open inbox.
    @inlinable
    package init(maximumCount: Int, maximumBytes: Int) {
        self.queue = BoundedQueue(maximumCount: maximumCount, maximumBytes: maximumBytes)
    }

    /// Whether the source must pause.
    @inlinable
    package var isPaused: Bool {
        // After the end no further element is kept, and the source may have to be read to its end.
        guard case .open = self.state else { return false }
        return self.queue.isPaused
    }

    // MARK: The source

    @usableFromInline
    package enum ReceivedAction: Equatable {
        case resume(reader: Int)
        case pauseSource
        case doNothing
    }

    /// Queues an element, or returns the reader to which the caller passes it. Discards the element
    /// if the inbox has ended.
    @inlinable
    package mutating func received(_ element: Element, bytes: Int) -> ReceivedAction {
        guard case .open = self.state else { return .doNothing }
        if let reader = self.readers.popFirst() {
            return .resume(reader: reader)  // a waiting reader means that the queue is empty
        }
        let wasPaused = self.queue.isPaused
        self.queue.append(element, bytes: bytes)
        return self.queue.isPaused && !wasPaused ? .pauseSource : .doNothing
    }

    /// Ends the inbox. Returns the waiting readers.
    @inlinable
    package mutating func ended(_ error: Failure?) -> [Int] {
        guard case .open = self.state else { return [] }
        self.state = .ended(error)
        return self.takeReaders()
    }

    /// Returns the queued elements for another consumer, and the waiting readers, which the caller
    /// ends. The inbox stays open: the caller passes later elements to the other consumer.
    @inlinable
    package mutating func takeOver() -> (elements: [Element], readers: [Int], resumesSource: Bool) {
        let wasPaused = self.isPaused
        return (self.queue.takeAll(), self.takeReaders(), wasPaused)
    }

    @inlinable
    mutating func takeReaders() -> [Int] {
        defer { self.readers.removeAll() }
        return self.readers.map { $0 }  // as in `BoundedQueue.takeAll`
    }

    // MARK: The readers

    @usableFromInline
    package enum NextAction {
        case deliver(Element, resumesSource: Bool)
        case wait
        case finish(Failure?)
    }

    /// Requests an element for a reader.
    @inlinable
    package mutating func next(reader: Int) -> NextAction {
        let wasPaused = self.isPaused
        if let element = self.queue.popFirst() {
            return .deliver(element, resumesSource: wasPaused && !self.isPaused)
        }
        switch self.state {
        case .open:
            self.readers.append(reader)
            return .wait
        case .ended(let error):
            return .finish(error)
        }
    }

    /// Cancels a reader. Returns whether it was waiting.
    @inlinable
    package mutating func cancelled(reader: Int) -> Bool {
        guard let index = self.readers.firstIndex(of: reader) else { return false }
        self.readers.remove(at: index)
        return true
    }
}

extension InboxStateMachine.NextAction: Equatable where Element: Equatable, Failure: Equatable {}
extension InboxStateMachine.State: Sendable where Element: Sendable {}
extension InboxStateMachine: Sendable where Element: Sendable {}
