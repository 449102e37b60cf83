import ApusWebSocket
import NIOConcurrencyHelpers
import NIOCore

extension EngineIOServer {
    /// Lets nobody in any more, closes the sessions and waits until their clients have left.
    ///
    /// They are told in batches, in random order and at varying gaps, so that they do not all come back at the same moment. Whoever is still
    /// there after `drainTimeout` is cut. Cancelling the calling task does not shorten that.
    package func shutdown() async {
        let configuration = self.configuration
        let sessions = self.state.withLockedValue { state in
            state.admission.drain()
            return Array(state.sessions.values)
        }
        // In tasks of their own: the caller's is often cancelled already, which is why the server goes down.
        let cutter = Task {
            guard (try? await Task.sleep(for: configuration.drainTimeout)) != nil else { return }
            self.cutAll()
        }
        let teller = Task {
            // Half of the time for telling, half for leaving.
            var plan = WebSocketDrainPlan(
                sessions, batchSize: configuration.drainBatchSize, gap: configuration.drainBatchGap,
                within: configuration.drainTimeout / 2)
            while true {
                let (batch, next) = plan.nextBatch()
                for session in batch { session.eventLoop.runOnLoop { session.drain() } }
                guard let next, (try? await Task.sleep(for: next)) != nil else { return }
            }
        }
        await self.waitUntilEmpty()
        cutter.cancel()
        teller.cancel()
    }

    private func cutAll() {
        let (sessions, webSockets, waiters) = self.state.withLockedValue { state in
            defer { state.drainWaiters = [] }
            return (Array(state.sessions.values) + state.leaving.values, Array(state.lingering.values), state.drainWaiters)
        }
        for session in sessions { session.eventLoop.runOnLoop { session.cut() } }
        for webSocket in webSockets { webSocket.abort() }
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
