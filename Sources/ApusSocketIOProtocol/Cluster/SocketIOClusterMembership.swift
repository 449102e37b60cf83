/// Who is in the cluster, told by heartbeats, for a transport that cannot tell by itself.
///
/// Time is passed in, as the time since some fixed moment. Source: the reference's cluster adapter with heartbeats.
package struct SocketIOClusterMembership: Sendable {
    private let timeout: Duration
    private var lastSeen: [SocketIONodeID: Duration] = [:]

    /// - Parameter timeout: A server that says nothing for so long is gone.
    package init(timeout: Duration) {
        self.timeout = timeout
    }

    /// The other servers.
    package var nodes: Set<SocketIONodeID> { Set(self.lastSeen.keys) }

    /// Something came from a server. `true`: it is new.
    @discardableResult package mutating func heard(_ node: SocketIONodeID, at now: Duration) -> Bool {
        guard node != .emitter else { return false }
        return self.lastSeen.updateValue(now, forKey: node) == nil
    }

    /// A server said goodbye. `false`: nobody knew it.
    package mutating func left(_ node: SocketIONodeID) -> Bool { self.lastSeen.removeValue(forKey: node) != nil }

    /// The servers that have been silent for too long; they are forgotten.
    package mutating func timerFired(at now: Duration) -> [SocketIONodeID] {
        let silent = self.lastSeen.filter { now - $0.value >= self.timeout }.map(\.key)
        for node in silent { self.lastSeen[node] = nil }
        return silent.sorted { $0.rawValue < $1.rawValue }
    }
}
