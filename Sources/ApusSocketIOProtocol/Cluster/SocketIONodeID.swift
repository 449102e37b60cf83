/// The name of one server of a cluster, created at every start.
public struct SocketIONodeID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name on the wire between servers.
    public let rawValue: String

    /// Creates a node id.
    ///
    /// - Parameter rawValue: A name that is unique in the cluster.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates a node id from a literal.
    public init(stringLiteral value: String) { self.rawValue = value }

    /// The id of a publisher that is not a server of the cluster. It is not counted and receives no
    /// replies.
    ///
    /// Source: the `uid` of the emitters of Node's Socket.IO.
    public static let emitter = Self("emitter")

    /// The name.
    public var description: String { self.rawValue }
}

/// The other servers of a cluster that are expected to answer a request.
public enum SocketIOClusterServers: Hashable, Sendable {
    /// This number of servers, for a transport that reports only the number of subscribers.
    case count(Int)
    /// These servers. A request stops waiting for a server that leaves.
    case nodes(Set<SocketIONodeID>)
}
