import ApusConnectivity
import NIOConcurrencyHelpers
import NIOCore

extension EngineIOServer {
    /// Refuses new clients, closes the sessions and waits until their connections have closed.
    ///
    /// Sessions are notified in batches, in random order and at varying intervals, so that clients
    /// do not all reconnect at the same moment. Remaining connections are closed after
    /// `drainTimeout`. Cancelling the calling task does not shorten the shutdown.
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
            (Array(state.sessions.values) + state.closingSessions.values, Array(state.closingWebSockets.values))
        }
        for session in sessions { session.eventLoop.runOnLoop { session.cut() } }
        for webSocket in webSockets { webSocket.abort() }
    }
}
