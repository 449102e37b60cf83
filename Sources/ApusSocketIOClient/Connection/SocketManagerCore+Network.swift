import ApusConnectivity
import NIOCore

// Reconnection according to the network state of the machine.
extension SocketManagerCore {
    /// Observes the network while a socket is in use.
    func watchNetwork() {
        guard self.configuration.watchesNetwork, self.configuration.engine.unixSocketPath == nil, !self.network.isWatching else { return }
        let eventLoop = self.eventLoop
        let listening = self.configuration.networkMonitor.listen { [weak self] path in
            guard let self else { return }
            // Asynchronously, because the first report may precede the return of `listen`.
            eventLoop.execute { self.networkChanged(to: path) }
        }
        self.network.started(listening)
    }

    /// Stops observing the network when no socket is in use.
    func stopWatching() {
        self.network.stop()
        _ = self.reconnection.routeFound()  // without observation, assume a route
    }

    /// Returns the host of a URL, to detect a server on this machine. A URL without a host fails on
    /// connecting.
    static func host(of url: String) -> String {
        let authority = (url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.first == "[" { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    private func networkChanged(to path: NetworkPath) {
        guard self.network.isWatching else { return }  // sent before the last socket left
        switch self.network.changed(to: path) {
        case .lost: if case .cancelTimer = self.reconnection.routeLost() { self.retryTimer?.cancel() }
        case .found: if case .connect(let attempt) = self.reconnection.routeFound() { self.retry(attempt) }
        case .doNothing: break
        }
    }
}
