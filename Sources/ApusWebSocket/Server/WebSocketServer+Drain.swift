import ApusWebSocketProtocol
import NIOConcurrencyHelpers

extension WebSocketServer {
    /// Lets nobody in any more, tells everybody that the server goes down (1001) and waits until they have left.
    ///
    /// They are told in batches, in random order and at varying gaps, so that they do not all come back at the same moment. Whoever is
    /// still there after ``WebSocketServerConfiguration/drainTimeout`` is cut. Cancelling the calling task does not shorten that.
    public func shutdown() async {
        self.state.withLockedValue { $0.admission.drain() }
        let configuration = self.configuration
        // In tasks of their own: the caller's is often cancelled already, which is why the server goes down.
        let cutter = Task {
            guard (try? await Task.sleep(for: configuration.drainTimeout)) != nil else { return }
            self.cutAll()
        }
        let teller = Task {
            // Half of the time for telling, half for leaving.
            var plan = WebSocketDrainPlan(
                self.connections, batchSize: configuration.drainBatchSize, gap: configuration.drainBatchGap,
                within: configuration.drainTimeout / 2)
            while true {
                let (batch, next) = plan.nextBatch()
                for connection in batch { connection.startClosing(code: .goingAway) }
                guard let next, (try? await Task.sleep(for: next)) != nil else { return }
            }
        }
        await self.waitUntilEmpty()
        cutter.cancel()
        teller.cancel()
    }

    private func cutAll() {
        let (connections, tasks, waiters) = self.state.withLockedValue { state in
            defer { state.drainWaiters = [] }
            return (state.connections, Array(state.tasks.values), state.drainWaiters)
        }
        for connection in connections { connection.abort() }
        for task in tasks { task.cancel() }
        // A handler that does not listen to its cancellation is not waited for.
        for waiter in waiters { waiter.resume() }
    }

    private func waitUntilEmpty() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isEmpty = self.state.withLockedValue { state in
                if !state.isEmpty { state.drainWaiters.append(continuation) }
                return state.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }
}
