/// The name of one server of a cluster. A server uses a new name after every start.
public struct SocketIONodeID: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as sent to the other servers.
    public let rawValue: String

    /// Creates a node id.
    ///
    /// - Parameter rawValue: A name that is unique in the cluster.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// Creates a node id from a literal.
    public init(stringLiteral value: String) { self.rawValue = value }

    /// The id of a publisher that is not a server of the cluster. Such a publisher is not counted
    /// as a server and receives no replies.
    ///
    /// Source: the `uid` of the emitters of Node's Socket.IO.
    public static let emitter = Self("emitter")

    /// The name.
    public var description: String { self.rawValue }
}

/// The other servers of a cluster that are expected to answer a request.
public enum SocketIOClusterServers: Hashable, Sendable {
    /// A number of servers, for a transport that reports only the number of subscribers.
    case count(Int)
    /// The names of the servers. A request stops waiting for a server that leaves.
    case nodes(Set<SocketIONodeID>)
}
