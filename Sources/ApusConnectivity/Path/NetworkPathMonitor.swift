import NIOConcurrencyHelpers

/// Watches the machine's network: routes that come and go, other networks.
///
/// Linux: rtnetlink. Apple: `NWPathMonitor`. Elsewhere nothing is ever reported. It watches while somebody listens, at the cost of one
/// descriptor, however many do.
public final class NetworkPathMonitor: Sendable {
    /// What watches the system; released and stopped when nobody listens.
    package protocol Source: Sendable {
        /// Ends the reports. One that is on its way may still come.
        func stop()
    }

    /// Hears every path in order, each at most once: an old one that was overtaken on its way is dropped.
    private final class Listener: Sendable {
        private let last = NIOLockedValueBox(-1)
        private let call: @Sendable (NetworkPath) -> Void

        init(_ call: @escaping @Sendable (NetworkPath) -> Void) { self.call = call }

        /// The lock is held during the call: it is what keeps the order.
        func hear(_ path: NetworkPath, number: Int) {
            self.last.withLockedValue { last in
                guard number > last else { return }
                last = number
                self.call(path)
            }
        }
    }

    private struct State {
        var current: NetworkPath?
        /// Counts the paths.
        var number = 0
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        var source: (any Source)?
        /// Tells reports of the present source from those of one that was stopped.
        var generation = 0
    }

    /// One for the whole process.
    public static let shared = NetworkPathMonitor()

    private let state = NIOLockedValueBox(State())
    private let makeSource: @Sendable (@escaping @Sendable (NetworkPath) -> Void) -> (any Source)?

    /// A monitor of this machine. ``shared`` is usually enough.
    public convenience init() {
        self.init { report in
            #if canImport(Network)
                AppleNetworkPathSource(report: report)
            #elseif os(Linux)
                NetlinkPathSource(report: report)
            #else
                nil
            #endif
        }
    }

    /// A monitor of something else, for tests.
    package init(makeSource: @escaping @Sendable (@escaping @Sendable (NetworkPath) -> Void) -> (any Source)?) {
        self.makeSource = makeSource
    }

    /// The last path seen; `nil` before the first report and while nobody listens. Who does not know a path should try.
    public var current: NetworkPath? { self.state.withLockedValue { $0.current } }

    /// The present path as soon as it is known, and each one that follows. A slow reader gets the newest only.
    public var paths: Paths { Paths(monitor: self) }

    // MARK: Listeners

    /// Calls `listener` with the present path when it is known, and with each that follows, on a thread of the system's or an event loop.
    ///
    /// - Returns: To be cancelled; the monitor keeps the listener until then.
    package func listen(_ call: @escaping @Sendable (NetworkPath) -> Void) -> Listening {
        let listener = Listener(call)
        let (id, current, number, isFirst, generation) = self.state.withLockedValue { state in
            let id = state.nextListener
            state.nextListener += 1
            state.listeners[id] = listener
            let isFirst = state.listeners.count == 1
            if isFirst { state.generation += 1 }
            return (id, state.current, state.number, isFirst, state.generation)
        }
        if let current { listener.hear(current, number: number) }
        if isFirst {
            let source = self.makeSource { [weak self] in self?.report($0, generation: generation) }
            let isStale = self.state.withLockedValue { state in
                guard state.generation == generation else { return true }  // the only listener has left in between
                state.source = source
                return false
            }
            if isStale { source?.stop() }
        }
        return Listening(monitor: self, id: id)
    }

    fileprivate func stopListening(_ id: Int) {
        let source = self.state.withLockedValue { state -> (any Source)? in
            guard state.listeners.removeValue(forKey: id) != nil, state.listeners.isEmpty else { return nil }
            state.generation += 1
            state.current = nil  // would grow old
            defer { state.source = nil }
            return state.source
        }
        source?.stop()
    }

    private func report(_ path: NetworkPath, generation: Int) {
        let (listeners, number) = self.state.withLockedValue { state -> ([Listener], Int) in
            guard state.generation == generation, state.current != path else { return ([], 0) }
            state.current = path
            state.number += 1
            return (Array(state.listeners.values), state.number)
        }
        for listener in listeners { listener.hear(path, number: number) }
    }

    /// Somebody who listens to a monitor.
    package struct Listening: Sendable {
        private let monitor: NetworkPathMonitor
        private let id: Int

        fileprivate init(monitor: NetworkPathMonitor, id: Int) {
            self.monitor = monitor
            self.id = id
        }

        /// Ends it; a call that is on its way may still come.
        package func cancel() { self.monitor.stopListening(self.id) }
    }

    /// The paths of a monitor, one after another, without end.
    public struct Paths: AsyncSequence, Sendable {
        /// A path.
        public typealias Element = NetworkPath
        /// Never fails.
        public typealias Failure = Never

        fileprivate let monitor: NetworkPathMonitor

        /// Starts to listen; listening ends with the iterator.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(
                base: AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                    let listening = self.monitor.listen { continuation.yield($0) }
                    continuation.onTermination = { _ in listening.cancel() }
                }.makeAsyncIterator())
        }

        /// Goes through the paths.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<NetworkPath>.Iterator

            /// The next path; `nil` when the task is cancelled.
            public mutating func next() async -> NetworkPath? { await self.base.next() }

            /// The next path; `nil` when the task is cancelled.
            public mutating func next(isolation actor: isolated (any Actor)?) async -> NetworkPath? {
                await self.base.next(isolation: actor)
            }
        }
    }
}
