import ApusConnectivity
import ApusWebSocketProtocol
import NIOConcurrencyHelpers

extension WebSocketServer {
    /// Stops accepting connections, closes all open ones with 1001 and waits until they have ended.
    ///
    /// The connections are closed in batches, in random order and at varying intervals, to spread
    /// the reconnects. Connections still open after ``WebSocketServerConfiguration/drainTimeout``
    /// are aborted. Cancelling the calling task does not shorten the wait.
    public func shutdown() async {
        self.state.withLockedValue { state in
            state.transports.drain()
            state.webSockets.drain()
        }
        await self.state.drain(
            self.connections,
            pace: .init(
                timeout: self.configuration.drainTimeout, batchSize: self.configuration.drainBatchSize,
                gap: self.configuration.drainBatchGap),
            telling: { $0.startClosing(code: .goingAway) }, cutting: self.cutAll)
    }

    private func cutAll() {
        let (connections, tasks) = self.state.withLockedValue { ($0.connections, Array($0.tasks.values)) }
        for connection in connections { connection.abort() }
        for task in tasks { task.cancel() }
    }
}
