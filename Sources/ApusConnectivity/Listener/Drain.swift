package import NIOConcurrencyHelpers

/// The state of a server's connections that a graceful shutdown needs.
package protocol DrainState: Sendable {
    associatedtype Connection: Sendable

    /// The connections to notify of a shutdown.
    var openConnections: [Connection] { get }
    /// Refuses all new connections from now on.
    mutating func refuseNewConnections()
    /// Whether all connections have closed.
    var isEmpty: Bool { get }
    /// The shutdowns that wait until all connections have closed.
    var drainWaiters: [CheckedContinuation<Void, Never>] { get set }
}

/// The schedule of a graceful shutdown.
package struct DrainSchedule: Sendable {
    /// The time after which the server closes the remaining connections.
    package var timeout: Duration
    /// The number of connections in a batch.
    package var batchSize: Int
    /// The mean time between two batches.
    package var gap: Duration

    package init(timeout: Duration, batchSize: Int, gap: Duration) {
        self.timeout = timeout
        self.batchSize = batchSize
        self.gap = gap
    }
}

extension NIOLockedValueBox where Value: DrainState {
    /// Changes the state, and resumes waiting shutdowns if all connections have closed.
    package func update(_ change: (inout Value) -> Void) {
        let waiters = self.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            change(&state)
            guard !state.drainWaiters.isEmpty, state.isEmpty else { return [] }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Notifies all connections of the shutdown, and waits until they have closed.
    ///
    /// Notifies the connections in batches, in random order and at varying intervals, so that the
    /// clients do not all reconnect at the same moment. Cancelling the calling task does not
    /// shorten the shutdown.
    ///
    /// - Parameters:
    ///   - connections: The connections to notify.
    ///   - pace: The schedule.
    ///   - tell: Asks a connection to close.
    ///   - cut: Closes the remaining connections after the timeout. The call does not wait for
    ///     connections that `cut` leaves open.
    func drain<Connection: Sendable>(
        _ connections: [Connection], pace: DrainSchedule, telling tell: @escaping @Sendable (Connection) -> Void,
        cutting cut: @escaping @Sendable () -> Void
    ) async {
        // The tasks are unstructured: the caller's task is often already cancelled, because its
        // cancellation starts the shutdown.
        let closer = Task {
            guard (try? await Task.sleep(for: pace.timeout)) != nil else { return }
            cut()
            for waiter in self.withLockedValue({ $0.takeWaiters() }) { waiter.resume() }
        }
        let notifier = Task {
            // Half of the time is for the notifications, half for the clients to close.
            var plan = DrainPlan(connections, batchSize: pace.batchSize, gap: pace.gap, within: pace.timeout / 2)
            while true {
                let (batch, next) = plan.nextBatch()
                for connection in batch { tell(connection) }
                guard let next, (try? await Task.sleep(for: next)) != nil else { return }
            }
        }
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isEmpty = self.withLockedValue { state in
                if !state.isEmpty { state.drainWaiters.append(continuation) }
                return state.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
        closer.cancel()
        notifier.cancel()
    }
}

extension DrainState {
    fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        defer { self.drainWaiters = [] }
        return self.drainWaiters
    }
}
