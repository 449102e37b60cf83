public import NIOConcurrencyHelpers

/// Delivers elements to the user's code on any executor, one at a time and in order.
///
/// At most one delivery is scheduled at a time, so that the order does not depend on the executor.
@usableFromInline
package final class Mailbox<Element: Sendable>: Sendable {
    @usableFromInline
    package typealias Run = @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

    @usableFromInline
    struct State: Sendable {
        @usableFromInline var queue: BoundedQueue<Element>
        /// The user's code; `nil` after ``cancel()``.
        @usableFromInline var receive: (@Sendable (Element) -> Void)?
        @usableFromInline var isScheduled = false

        @inlinable
        init(queue: BoundedQueue<Element>, receive: @escaping @Sendable (Element) -> Void) {
            self.queue = queue
            self.receive = receive
        }

        /// Returns whether a delivery must be scheduled.
        @inlinable
        mutating func schedule() -> Bool {
            defer { self.isScheduled = true }
            return !self.isScheduled
        }
    }

    @usableFromInline let run: Run
    @usableFromInline let resumeSource: @Sendable () -> Void
    @usableFromInline let state: NIOLockedValueBox<State>

    /// Creates an empty mailbox.
    ///
    /// - Parameters:
    ///   - maximumCount: The number of elements at which the mailbox is full.
    ///   - maximumBytes: The total size of the elements at which the mailbox is full.
    ///   - run: The executor. Runs each piece of work once, immediately or later.
    ///   - resumeSource: Called when a source that paused may resume.
    ///   - receive: Called with one element at a time.
    @inlinable
    package init(
        maximumCount: Int, maximumBytes: Int, run: @escaping Run, resumeSource: @escaping @Sendable () -> Void = {},
        receive: @escaping @Sendable (Element) -> Void
    ) {
        self.run = run
        self.resumeSource = resumeSource
        self.state = NIOLockedValueBox(
            State(queue: BoundedQueue(maximumCount: maximumCount, maximumBytes: maximumBytes), receive: receive))
    }

    /// Whether the source must pause.
    @inlinable
    package var isPaused: Bool { self.state.withLockedValue { $0.queue.isPaused } }

    /// Delivers an element regardless of the limits. Returns whether the source must pause.
    @inlinable
    @discardableResult
    package func post(_ element: Element, bytes: Int = 0) -> Bool {
        let (isPaused, begins) = self.state.withLockedValue { state in
            guard state.receive != nil else { return (false, false) }
            state.queue.append(element, bytes: bytes)
            return (state.queue.isPaused, state.schedule())
        }
        if begins { self.run { self.deliver() } }
        return isPaused
    }

    /// Delivers an element, unless the mailbox has no space for it. Returns whether it was
    /// accepted.
    @inlinable
    package func postWithinLimits(_ element: Element, bytes: Int) -> Bool {
        let (isAccepted, begins) = self.state.withLockedValue { state in
            guard state.receive != nil, state.queue.append(element, bytes: bytes, otherwise: .refuse) else { return (false, false) }
            return (true, state.schedule())
        }
        if begins { self.run { self.deliver() } }
        return isAccepted
    }

    /// Discards the elements and releases the user's code. A delivery that another thread has
    /// already taken from the queue may still run.
    @inlinable
    package func cancel() {
        // Both are released outside the lock, because the captures of the user's code may call this
        // object when they are deinitialized.
        let released = self.state.withLockedValue { state in (state.queue.takeAll(), state.receive.take()) }
        withExtendedLifetime(released) {}
    }

    @inlinable
    func deliver() {
        while true {
            let (delivery, resumes) = self.state.withLockedValue {
                state -> ((receive: @Sendable (Element) -> Void, element: Element)?, Bool) in
                let wasPaused = state.queue.isPaused
                guard let receive = state.receive, let element = state.queue.popFirst() else {
                    state.isScheduled = false
                    return (nil, false)
                }
                return ((receive, element), wasPaused && !state.queue.isPaused)
            }
            if resumes { self.resumeSource() }
            guard let delivery else { return }
            delivery.receive(delivery.element)
        }
    }
}
