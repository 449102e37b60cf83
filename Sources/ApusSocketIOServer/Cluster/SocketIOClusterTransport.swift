public import ApusSocketIOProtocol

/// Where a message for the servers of a cluster can be left.
public protocol SocketIOClusterPublisher: Sendable {
    /// Sends a message to every other server of the cluster, at most once, in the order of the calls of one thread.
    ///
    /// It does not wait and does not throw: a message that cannot be sent is lost, and logged by the transport. Never back to its sender: on a wire
    /// that does so, the transport leaves out what carries its own id.
    func publish(_ message: SocketIOClusterMessage)
}

/// What joins several servers to a cluster: it carries messages between them and knows nothing of sockets.
///
/// Each server has a transport of its own, given to it in its configuration. The server's part stands above every transport: which sockets are
/// meant, which answers are waited for and until when. Whatever a transport loses costs what was lost and no more. Calls come from any thread.
public protocol SocketIOClusterTransport: SocketIOClusterPublisher {
    /// How servers notice that one of them is gone; `nil` (the default) when the transport knows by itself, and answers
    /// ``servers(in:report:)``.
    var heartbeat: SocketIOClusterHeartbeat? { get }

    /// Begins to carry messages for one server, and keeps `receiver` until ``stop()``. A connection it needs it makes by itself, again and again.
    func start(_ receiver: any SocketIOClusterReceiver)

    /// Ends what ``start(_:)`` began.
    func stop()

    /// Sends an answer to the server that asked.
    func respond(_ response: SocketIOClusterResponse, to node: SocketIONodeID)

    /// Tells, now or later, which other servers have this namespace. Who cannot say never calls `report`; the request then ends by its deadline.
    func servers(in namespace: String, report: @escaping @Sendable (SocketIOClusterServers) -> Void)

    /// The server has this namespace from now on: the moment to subscribe. Default: nothing.
    func opened(namespace: String)

    /// The server has this namespace no more. Default: nothing.
    func closed(namespace: String)

    /// The room has a first member on this server, or (`false`) none any more: for a transport with a channel a room. Default: nothing.
    func changed(room: String, in namespace: String, exists: Bool)
}

extension SocketIOClusterTransport {
    /// None: the transport knows by itself.
    public var heartbeat: SocketIOClusterHeartbeat? { nil }
    /// Never reports: heartbeats tell.
    public func servers(in namespace: String, report: @escaping @Sendable (SocketIOClusterServers) -> Void) {}
    /// Nothing.
    public func opened(namespace: String) {}
    /// Nothing.
    public func closed(namespace: String) {}
    /// Nothing.
    public func changed(room: String, in namespace: String, exists: Bool) {}
}

/// One server, as its transport sees it. Every method may be called from any thread and does not block.
public protocol SocketIOClusterReceiver: Sendable {
    /// The server's name in the cluster.
    var node: SocketIONodeID { get }
    /// A message of another server, or of an emitter.
    func received(_ message: SocketIOClusterMessage)
    /// An answer to a request of this server. One that comes late, or is not this server's, changes nothing.
    func received(_ response: SocketIOClusterResponse)
    /// Another server is gone: its answers are not waited for.
    func left(_ node: SocketIONodeID)
}

/// How servers notice that one of them is gone.
public struct SocketIOClusterHeartbeat: Hashable, Sendable {
    /// Time between two signs of life of a server. Default: 5 seconds, the reference's.
    public var interval: Duration
    /// A server that says nothing for so long is gone. Default: 10 seconds, the reference's.
    public var timeout: Duration

    /// - Parameters:
    ///   - interval: Time between two signs of life.
    ///   - timeout: A server that says nothing for so long is gone; more than the interval.
    public init(interval: Duration = .seconds(5), timeout: Duration = .seconds(10)) {
        self.interval = interval
        self.timeout = timeout
    }
}
