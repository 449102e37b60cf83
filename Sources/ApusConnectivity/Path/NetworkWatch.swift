/// What a connection that is to stay up makes of the machine's networks.
///
/// Confined to the connection's event loop.
package struct NetworkWatch {
    private let host: String
    private var listening: NetworkPathMonitor.Listening?
    private var last: NetworkPath?
    private var mayReach = true

    /// - Parameter host: The server's; a server on this machine needs no network.
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

    /// The monitor has reported.
    package mutating func changed(to path: NetworkPath) -> Change {
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
