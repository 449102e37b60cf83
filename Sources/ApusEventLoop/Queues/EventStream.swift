/// The elements that an ``EventStream`` drops when its reader is slower than its source.
public enum BufferingPolicy: Sendable, Hashable {
    /// Keeps all elements in memory.
    case unbounded
    /// Keeps this number of elements, and drops new ones while the buffer is full.
    case bufferingOldest(Int)
    /// Keeps this number of elements, and drops the oldest ones. A count of 1 keeps only the newest
    /// element.
    case bufferingNewest(Int)
}

/// A sequence of events for one reader at a time.
///
/// The caller that creates the stream chooses by a ``BufferingPolicy`` which elements a slow reader
/// misses. The stream does not slow its source down. A released stream is removed from its source.
public struct EventStream<Element: Sendable>: AsyncSequence, Sendable {
    /// The sequence does not throw.
    public typealias Failure = Never

    /// The continuation with which the source adds elements.
    package typealias Continuation = AsyncStream<Element>.Continuation

    private let base: AsyncStream<Element>

    /// Creates a stream and the continuation for its source.
    package static func make(of type: Element.Type = Element.self, bufferingPolicy policy: BufferingPolicy) -> (Self, Continuation) {
        let limit: Continuation.BufferingPolicy =
            switch policy {
            case .unbounded: .unbounded
            case .bufferingOldest(let count): .bufferingOldest(count)
            case .bufferingNewest(let count): .bufferingNewest(count)
            }
        let (base, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: limit)
        return (Self(base: base), continuation)
    }

    /// Creates an iterator that continues after the elements already read from this stream.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: self.base.makeAsyncIterator()) }

    /// The iterator of an ``EventStream``.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncStream<Element>.Iterator

        /// Returns the next element; `nil` after the end, and when the task is cancelled.
        public mutating func next() async -> Element? { await self.base.next() }

        /// Returns the next element; `nil` after the end, and when the task is cancelled.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            await self.base.next(isolation: actor)
        }
    }
}
