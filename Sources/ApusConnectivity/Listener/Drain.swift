package import NIOConcurrencyHelpers

/// What a server knows of its connections, as far as going down needs it.
package protocol DrainState: Sendable {
    /// Whether everybody has left.
    var isEmpty: Bool { get }
    /// The shutdowns that wait for that.
    var drainWaiters: [CheckedContinuation<Void, Never>] { get set }
}

/// How a server goes down.
package struct DrainPace: Sendable {
    /// Whoever is still there after this time is cut.
    package var timeout: Duration
    /// How many are told at a time.
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
    /// Changes the state and wakes a shutdown that waits for its end.
    package func update(_ change: (inout Value) -> Void) {
        let waiters = self.withLockedValue { state -> [CheckedContinuation<Void, Never>] in
            change(&state)
            guard !state.drainWaiters.isEmpty, state.isEmpty else { return [] }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Tells everybody, and waits until they have left.
    ///
    /// They are told in batches, in random order and at varying gaps, so that they do not all come back at the same moment. Cancelling the
    /// calling task does not shorten that.
    ///
    /// - Parameters:
    ///   - connections: Whoever is to be told.
    ///   - pace: In what time.
    ///   - tell: Asks one to leave.
    ///   - cut: Ends what is left after the timeout. Whoever does not leave even then is not waited for.
    package func drain<Connection: Sendable>(
        _ connections: [Connection], pace: DrainPace, telling tell: @escaping @Sendable (Connection) -> Void,
        cutting cut: @escaping @Sendable () -> Void
    ) async {
        // In tasks of their own: the caller's is often cancelled already, which is why the server goes down.
        let cutter = Task {
            guard (try? await Task.sleep(for: pace.timeout)) != nil else { return }
            cut()
            for waiter in self.withLockedValue({ $0.takeWaiters() }) { waiter.resume() }
        }
        let teller = Task {
            // Half of the time for telling, half for leaving.
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
        cutter.cancel()
        teller.cancel()
    }
}

extension DrainState {
    fileprivate mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
        defer { self.drainWaiters = [] }
        return self.drainWaiters
    }
}
