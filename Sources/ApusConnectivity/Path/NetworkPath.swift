/// A snapshot of this machine's routes and addresses.
public struct NetworkPath: Sendable, Hashable, CustomStringConvertible {
    /// Whether other hosts may be reachable: there is a default route, or an address beyond the
    /// link on an interface that is up.
    public let isSatisfied: Bool

    /// Whether there is a default route.
    public let hasDefaultRoute: Bool

    /// A text that changes with the default routes and addresses. After a change, existing
    /// connections may be dead, and attempts that failed may succeed.
    public let fingerprint: String

    package init(isSatisfied: Bool, hasDefaultRoute: Bool, fingerprint: String) {
        self.isSatisfied = isSatisfied
        self.hasDefaultRoute = hasDefaultRoute
        self.fingerprint = fingerprint
    }

    /// Returns whether a host may be reachable: the path is satisfied, or the host is this machine
    /// (`localhost`, `127.0.0.1`, `::1`).
    public func mayReach(host: String) -> Bool { self.isSatisfied || IPAddress.isLoopback(host: host) }

    /// The kind of the path and its fingerprint.
    public var description: String {
        "\(self.isSatisfied ? self.hasDefaultRoute ? "default route" : "local network" : "no route") [\(self.fingerprint)]"
    }
}
