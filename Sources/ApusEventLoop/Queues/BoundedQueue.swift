public import DequeModule

/// A queue that limits the number and the total size of its elements. Performs no I/O.
///
/// A source that can pause appends without a policy and observes ``isPaused``. Other sources choose
/// a policy for the elements beyond the limits.
@usableFromInline
package struct BoundedQueue<Element> {
    /// The policy for an element beyond the limits.
    @usableFromInline
    package enum Overflow: Sendable {
        /// Refuses the element. The caller reports it.
        case refuse
        /// Drops the oldest elements until the new element fits, or drops the new element if it
        /// never fits.
        case dropOldest
        /// Drops the new element.
        case dropNewest
    }

    @usableFromInline let maximumCount: Int
    @usableFromInline let maximumBytes: Int
    @usableFromInline var elements: Deque<(element: Element, bytes: Int)> = []
    /// The total size of the elements.
    @usableFromInline package internal(set) var bytes = 0
    /// The number of elements that were dropped.
    @usableFromInline package internal(set) var dropped = 0
    /// Whether the source must pause: from the moment the queue is full until it is half empty, so
    /// that the source is not paused and resumed for every element.
    @usableFromInline package internal(set) var isPaused = false

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - maximumCount: The maximum number of elements.
    ///   - maximumBytes: The maximum total size of the elements.
    @inlinable
    package init(maximumCount: Int = .max, maximumBytes: Int) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    /// The number of queued elements.
    @inlinable
    package var count: Int { self.elements.count }

    @inlinable
    package var isEmpty: Bool { self.elements.isEmpty }

    /// The newest element.
    @inlinable
    package var last: Element? { self.elements.last?.element }

    /// Appends an element regardless of the limits.
    @inlinable
    package mutating func append(_ element: Element, bytes: Int) {
        self.elements.append((element, bytes))
        self.bytes += bytes
        self.isPaused = self.isPaused || self.elements.count >= self.maximumCount || self.bytes >= self.maximumBytes
    }

    /// Appends an element if the limits permit it, and applies the policy if they do not. Returns
    /// `false` if the element was refused.
    @inlinable
    package mutating func append(_ element: Element, bytes: Int, otherwise overflow: Overflow) -> Bool {
        while !self.hasRoom(for: bytes) {
            switch overflow {
            case .refuse: return false
            case .dropOldest where !self.isEmpty:
                self.dropped += 1
                _ = self.popFirst()
            case .dropOldest, .dropNewest:
                self.dropped += 1
                return true
            }
        }
        self.append(element, bytes: bytes)
        return true
    }

    @inlinable
    func hasRoom(for bytes: Int) -> Bool {
        self.count < self.maximumCount && bytes <= self.maximumBytes - self.bytes
    }

    /// Removes and returns the oldest element.
    @inlinable
    package mutating func popFirst() -> Element? {
        guard let (element, bytes) = self.elements.popFirst() else { return nil }
        self.removed(bytes)
        return element
    }

    /// Removes and returns the newest element.
    @inlinable
    package mutating func popLast() -> Element? {
        guard let (element, bytes) = self.elements.popLast() else { return nil }
        self.removed(bytes)
        return element
    }

    @inlinable
    mutating func removed(_ bytes: Int) {
        self.bytes -= bytes
        guard self.isPaused else { return }
        self.isPaused = self.elements.count > self.maximumCount / 2 || self.bytes > self.maximumBytes / 2
    }

    /// Removes and returns all elements, in order.
    @inlinable
    package mutating func takeAll() -> [Element] {
        // `Array(…)` is not used: for an empty deque, it writes to the standard library's shared
        // empty array, which ThreadSanitizer reports as a race.
        let elements = self.elements.map { $0.element }
        self.elements.removeAll()
        self.bytes = 0
        self.isPaused = false
        return elements
    }
}

extension BoundedQueue: Sendable where Element: Sendable {}
