import ApusConnectivity
import ApusWebSocketProtocol
import NIOConcurrencyHelpers

extension WebSocketServer {
    /// Lets nobody in any more, tells everybody that the server goes down (1001) and waits until they have left.
    ///
    /// They are told in batches, in random order and at varying gaps, so that they do not all come back at the same moment. Whoever is
    /// still there after ``WebSocketServerConfiguration/drainTimeout`` is cut. Cancelling the calling task does not shorten that.
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
