import ApusConnectivity
import NIOCore

// What the manager makes of the machine's networks.
extension SocketManagerCore {
    /// Watches while somebody wants the connection.
    func watchNetwork() {
        guard self.configuration.watchesNetwork, self.configuration.engine.unixSocketPath == nil, !self.network.isWatching else { return }
        let eventLoop = self.eventLoop
        let listening = self.configuration.networkMonitor.listen { [weak self] path in
            guard let self else { return }
            // Never at once: the first report may come before we know that we listen.
            eventLoop.execute { self.networkChanged(to: path) }
        }
        self.network.started(listening)
    }

    /// Nobody wants the connection any more.
    func stopWatching() {
        self.network.stop()
        _ = self.reconnection.routeFound()  // who no longer looks must not go on believing that there is none
    }

    /// For the question whether the server is this machine; a URL without a host fails when it is connected to.
    static func host(of url: String) -> String {
        let authority = (url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.first == "[" { return String(authority.dropFirst().prefix { $0 != "]" }) }
        return String(authority.prefix { $0 != ":" })
    }

    private func networkChanged(to path: NetworkPath) {
        guard self.network.isWatching else { return }  // it was on its way when the last socket left
        switch self.network.changed(to: path) {
        case .lost: if case .cancelTimer = self.reconnection.routeLost() { self.retryTimer?.cancel() }
        case .found: if case .connect(let attempt) = self.reconnection.routeFound() { self.retry(attempt) }
        case .doNothing: break
        }
    }
}
