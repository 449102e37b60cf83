/// The servers of a cluster, determined by heartbeats, for a transport without membership
/// information.
///
/// Times are durations since a fixed moment. Source: the cluster adapter with heartbeats of Node's
/// Socket.IO.
package struct SocketIOClusterMembership: Sendable {
    private let timeout: Duration
    private var lastSeen: [SocketIONodeID: Duration] = [:]

    /// Creates an empty membership.
    ///
    /// - Parameter timeout: The time without a message after which a server is considered failed.
    package init(timeout: Duration) {
        self.timeout = timeout
    }

    /// The other servers.
    package var nodes: Set<SocketIONodeID> { Set(self.lastSeen.keys) }

    /// Records a message from a server. Returns `true` if the server is new.
    @discardableResult package mutating func heard(_ node: SocketIONodeID, at now: Duration) -> Bool {
        guard node != .emitter else { return false }
        return self.lastSeen.updateValue(now, forKey: node) == nil
    }

    /// Records that a server left. Returns `false` if it is unknown.
    package mutating func left(_ node: SocketIONodeID) -> Bool { self.lastSeen.removeValue(forKey: node) != nil }

    /// Removes and returns the servers whose timeout has elapsed.
    package mutating func timerFired(at now: Duration) -> [SocketIONodeID] {
        let silent = self.lastSeen.filter { now - $0.value >= self.timeout }.map(\.key)
        for node in silent { self.lastSeen[node] = nil }
        return silent.sorted { $0.rawValue < $1.rawValue }
    }
}
