/// The name of one server of a cluster, made anew whenever it starts.
public struct SocketIONodeID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as it travels between servers.
    public let rawValue: String

    /// - Parameter rawValue: A name nobody else in the cluster has.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// A name from a literal.
    public init(stringLiteral value: String) { self.rawValue = value }

    /// Whoever publishes into a cluster without being one of its servers. Nobody counts it, nobody answers it.
    ///
    /// Source: the `uid` of the reference's emitters.
    public static let emitter = Self("emitter")

    /// The name.
    public var description: String { self.rawValue }
}

/// Which other servers of a cluster will answer a request.
public enum SocketIOClusterServers: Hashable, Sendable {
    /// So many; a transport that only knows the number of subscribers says so.
    case count(Int)
    /// These; one that dies is not waited for any longer.
    case nodes(Set<SocketIONodeID>)
}
