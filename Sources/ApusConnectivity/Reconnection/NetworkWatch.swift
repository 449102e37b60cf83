/// Determines whether a network change affects a persistent connection.
///
/// Confined to the connection's event loop.
package struct NetworkWatch {
    private let host: String
    private var listening: NetworkPathMonitor.Listening?
    private var last: NetworkPath?
    private var mayReach = true

    /// - Parameter host: The server's host. A server on this machine needs no network.
    package init(host: String) {
        self.host = host
    }

    package var isWatching: Bool { self.listening != nil }

    package mutating func started(_ listening: NetworkPathMonitor.Listening) {
        self.listening = listening
    }

    package mutating func stop() {
        self.listening?.cancel()
        self.listening = nil
        self.last = nil
        self.mayReach = true
    }

    package enum Change: Equatable { case lost, found, doNothing }

    /// Handles a report of the monitor. Returns its effect on the connection.
    package mutating func changed(to path: NetworkPath) -> Change {
        let (before, couldReach) = (self.last, self.mayReach)
        self.last = path
        self.mayReach = path.mayReach(host: self.host)
        guard self.mayReach else { return couldReach ? .lost : .doNothing }
        guard couldReach else { return .found }
        // The first report is the initial state, not a change.
        return before == nil || before?.fingerprint == path.fingerprint || self.isLocal ? .doNothing : .found
    }

    /// Whether the server is on this machine, where network changes do not affect connections.
    private var isLocal: Bool { NetworkPath(isSatisfied: false, hasDefaultRoute: false, fingerprint: "").mayReach(host: self.host) }
}
