import NIOConcurrencyHelpers

/// Monitors this machine's routes and addresses.
///
/// Uses rtnetlink on Linux and `NWPathMonitor` on Apple platforms. Reports nothing on other
/// platforms. Monitors the network only while it has listeners, all of which share one source.
public final class NetworkPathMonitor: Sendable {
    /// A platform's source of network paths. Stopped and released after the last listener is
    /// removed.
    package protocol Source: Sendable {
        /// Ends the reports. A concurrent report may still arrive.
        func stop()
    }

    /// Receives paths in order, each at most once. Drops a path that arrives after a newer one.
    private final class Listener: Sendable {
        private let last = NIOLockedValueBox(-1)
        private let call: @Sendable (NetworkPath) -> Void

        init(_ call: @escaping @Sendable (NetworkPath) -> Void) { self.call = call }

        /// Calls the closure with a path. Holds the lock during the call, which preserves the
        /// order.
        func receive(_ path: NetworkPath, number: Int) {
            self.last.withLockedValue { last in
                guard number > last else { return }
                last = number
                self.call(path)
            }
        }
    }

    private struct State {
        var current: NetworkPath?
        /// The number of the current path.
        var number = 0
        var listeners: [Int: Listener] = [:]
        var nextListener = 0
        var source: (any Source)?
        /// Distinguishes reports of the current source from those of a stopped one.
        var generation = 0
    }

    /// The monitor shared by the process.
    public static let shared = NetworkPathMonitor()

    private let state = NIOLockedValueBox(State())
    private let makeSource: @Sendable (@escaping @Sendable (NetworkPath) -> Void) -> (any Source)?

    /// Creates a monitor of this machine. ``shared`` is usually sufficient.
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

    /// Creates a monitor with another source, for tests.
    package init(makeSource: @escaping @Sendable (@escaping @Sendable (NetworkPath) -> Void) -> (any Source)?) {
        self.makeSource = makeSource
    }

    /// The most recent path; `nil` before the first report and while there are no listeners. While
    /// the path is `nil`, a client should attempt to connect.
    public var current: NetworkPath? { self.state.withLockedValue { $0.current } }

    /// The current path, as soon as it is known, and all later ones. A slow reader receives only
    /// the newest.
    public var paths: Paths { Paths(monitor: self) }

    // MARK: Listeners

    /// Calls a closure with the current path, if known, before this method returns. Calls it with
    /// each later path on a system thread or an event loop.
    ///
    /// - Returns: The registration. The monitor retains the closure until the registration is
    ///   cancelled.
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
        if let current { listener.receive(current, number: number) }
        if isFirst {
            let source = self.makeSource { [weak self] in self?.report($0, generation: generation) }
            let isStale = self.state.withLockedValue { state in
                guard state.generation == generation else { return true }  // the only listener was removed in the meantime
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
            state.current = nil  // without a source, the path would become outdated
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
        for listener in listeners { listener.receive(path, number: number) }
    }

    /// The registration of a listener.
    package struct Listening: Sendable {
        private let monitor: NetworkPathMonitor
        private let id: Int

        fileprivate init(monitor: NetworkPathMonitor, id: Int) {
            self.monitor = monitor
            self.id = id
        }

        /// Removes the listener. A concurrent call may still arrive.
        package func cancel() { self.monitor.stopListening(self.id) }
    }

    /// The sequence of a monitor's paths. Does not end.
    public struct Paths: AsyncSequence, Sendable {
        /// A network path.
        public typealias Element = NetworkPath
        /// The sequence does not throw.
        public typealias Failure = Never

        fileprivate let monitor: NetworkPathMonitor

        /// Adds a listener, which is removed with the iterator.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(
                base: AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
                    let listening = self.monitor.listen { continuation.yield($0) }
                    continuation.onTermination = { _ in listening.cancel() }
                }.makeAsyncIterator())
        }

        /// The iterator of the paths.
        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate var base: AsyncStream<NetworkPath>.Iterator

            /// Returns the next path; `nil` if the task is cancelled.
            public mutating func next() async -> NetworkPath? { await self.base.next() }

            /// Returns the next path; `nil` if the task is cancelled.
            @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
            public mutating func next(isolation actor: isolated (any Actor)?) async -> NetworkPath? {
                await self.base.next(isolation: actor)
            }
        }
    }
}
