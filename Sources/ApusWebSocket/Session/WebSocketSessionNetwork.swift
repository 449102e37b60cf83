import ApusConnectivity
import ApusWebSocketProtocol
import NIOCore

/// What a session makes of the machine's networks.
///
/// Confined to the session's event loop.
struct WebSocketSessionNetwork {
    private let host: String
    private var listening: NetworkPathMonitor.Listening?
    private var last: NetworkPath?
    private var mayReach = true

    /// - Parameter host: The server's; a server on this machine needs no network.
    init(host: String) {
        self.host = host
    }

    var isWatching: Bool { self.listening != nil }

    mutating func started(_ listening: NetworkPathMonitor.Listening) {
        self.listening = listening
    }

    mutating func stop() {
        self.listening?.cancel()
        self.listening = nil
        self.last = nil
        self.mayReach = true
    }

    enum Change: Equatable { case lost, found, doNothing }

    /// The monitor has reported.
    mutating func changed(to path: NetworkPath) -> Change {
        let (before, couldReach) = (self.last, self.mayReach)
        self.last = path
        self.mayReach = path.mayReach(host: self.host)
        guard self.mayReach else { return couldReach ? .lost : .doNothing }
        // The first report is how things were all along.
        guard couldReach else { return .found }
        return before == nil || before?.fingerprint == path.fingerprint || self.isLocal ? .doNothing : .found
    }

    /// No change of networks touches a connection within this machine.
    private var isLocal: Bool { NetworkPath(isSatisfied: false, hasDefaultRoute: false, fingerprint: "").mayReach(host: self.host) }
}

extension WebSocketSessionCore {
    /// Watches while somebody wants the connection.
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
        guard self.network.isWatching else { return }  // it was on its way when the session ended
        switch self.network.changed(to: path) {
        case .lost: self.routeLost()
        case .found: self.routeFound()
        case .doNothing: break
        }
    }
}
