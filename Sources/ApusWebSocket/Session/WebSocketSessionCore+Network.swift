import ApusConnectivity
import NIOCore

extension WebSocketSessionCore {
    /// Observes the network while a connection is wanted.
    func watchNetwork() {
        guard self.configuration.watchesNetwork, self.configuration.client.unixSocketPath == nil, !self.network.isWatching else { return }
        let eventLoop = self.eventLoop
        let listening = self.configuration.networkMonitor.listen { [weak self] path in
            guard let self else { return }
            eventLoop.execute { self.networkChanged(to: path) }
        }
        self.network.started(listening)
    }

    private func networkChanged(to path: NetworkPath) {
        guard self.network.isWatching else { return }  // the session has ended meanwhile
        switch self.network.changed(to: path) {
        case .lost: self.routeLost()
        case .found: self.routeFound()
        case .doNothing: break
        }
    }
}
