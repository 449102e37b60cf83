import ApusConnectivity
import NIOConcurrencyHelpers
import NIOCore

extension EngineIOServer {
    /// Lets nobody in any more, closes the sessions and waits until their clients have left.
    ///
    /// They are told in batches, in random order and at varying gaps, so that they do not all come back at the same moment. Whoever is still
    /// there after `drainTimeout` is cut. Cancelling the calling task does not shorten that.
    package func shutdown() async {
        let sessions = self.state.withLockedValue { state in
            state.clients.drain()
            return Array(state.sessions.values)
        }
        await self.state.drain(
            sessions,
            pace: .init(
                timeout: self.configuration.drainTimeout, batchSize: self.configuration.drainBatchSize,
                gap: self.configuration.drainBatchGap),
            telling: { session in session.eventLoop.runOnLoop { session.drain() } }, cutting: self.cutAll)
    }

    private func cutAll() {
        let (sessions, webSockets) = self.state.withLockedValue { state in
            (Array(state.sessions.values) + state.leaving.values, Array(state.lingering.values))
        }
        for session in sessions { session.eventLoop.runOnLoop { session.cut() } }
        for webSocket in webSockets { webSocket.abort() }
    }
}
