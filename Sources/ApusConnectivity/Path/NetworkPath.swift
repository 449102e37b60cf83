/// The ways that lead from this machine to others, at one moment.
public struct NetworkPath: Sendable, Hashable, CustomStringConvertible {
    /// Whether there is a way to anywhere: a default route, or an address that is not only for this machine, on an interface that is up.
    public let isSatisfied: Bool

    /// Whether there is a default route, which leads to all the world.
    public let hasDefaultRoute: Bool

    /// Differs when default routes or addresses do: connections of before may be dead, and failed attempts may succeed now.
    public let fingerprint: String

    /// A path.
    package init(isSatisfied: Bool, hasDefaultRoute: Bool, fingerprint: String) {
        self.isSatisfied = isSatisfied
        self.hasDefaultRoute = hasDefaultRoute
        self.fingerprint = fingerprint
    }

    /// Whether an attempt to connect to a host is worth making: there is a way, or the host is this machine (`localhost`, `127.0.0.1`, `::1`).
    public func mayReach(host: String) -> Bool { self.isSatisfied || IPAddressBytes.isLoopback(host: host) }

    /// The kind of the path and its fingerprint.
    public var description: String {
        "\(self.isSatisfied ? self.hasDefaultRoute ? "default route" : "local network" : "no route") [\(self.fingerprint)]"
    }
}
