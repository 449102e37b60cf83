public import ApusSocketIOProtocol

/// A publisher of messages to the servers of a cluster.
public protocol SocketIOClusterPublisher: Sendable {
    /// Sends a message to every other server of the cluster, at most once. Messages that one thread
    /// publishes are sent in order.
    ///
    /// The method does not wait and does not throw: the transport logs and drops a message that
    /// cannot be sent. The sender must not receive the message. If the medium echoes messages, the
    /// transport discards those with its own id.
    func publish(_ message: SocketIOClusterMessage)
}

/// A connection between the servers of a cluster. It transmits messages, and does not depend on
/// sockets.
///
/// Each server needs a transport object of its own. The server chooses the recipients, the expected
/// answers and the deadlines. A lost message affects only its own operation. Calls come from any
/// thread.
public protocol SocketIOClusterTransport: SocketIOClusterPublisher {
    /// The settings for detecting failed servers; `nil` (the default) when the transport itself
    /// detects them and implements ``servers(in:report:)``.
    var heartbeat: SocketIOClusterHeartbeat? { get }

    /// Starts the transport for one server, and retains `receiver` until ``stop()``. The transport
    /// opens its own connections and reopens lost ones.
    func start(_ receiver: any SocketIOClusterReceiver)

    /// Stops the transport.
    func stop()

    /// Sends a response to the server that made the request.
    func respond(_ response: SocketIOClusterResponse, to node: SocketIONodeID)

    /// Reports, immediately or later, which other servers use this namespace. If the transport
    /// never calls `report`, the request ends at its deadline.
    func servers(in namespace: String, report: @escaping @Sendable (SocketIOClusterServers) -> Void)

    /// Called when the server has created this namespace, so that the transport can subscribe.
    /// Default: does nothing.
    func opened(namespace: String)

    /// Called when the server has removed this namespace. Default: does nothing.
    func closed(namespace: String)

    /// Called when the first member of a room joins on this server or, with `exists` `false`, when
    /// the last one leaves. For a transport with a channel per room. Default: does nothing.
    func changed(room: String, in namespace: String, exists: Bool)
}

extension SocketIOClusterTransport {
    /// `nil`: the transport detects failed servers.
    public var heartbeat: SocketIOClusterHeartbeat? { nil }
    /// Never calls `report`: with ``heartbeat``, the server determines the other servers itself.
    public func servers(in namespace: String, report: @escaping @Sendable (SocketIOClusterServers) -> Void) {}
    /// Does nothing.
    public func opened(namespace: String) {}
    /// Does nothing.
    public func closed(namespace: String) {}
    /// Does nothing.
    public func changed(room: String, in namespace: String, exists: Bool) {}
}

/// A server's interface for its transport. Every method may be called from any thread and does not
/// block.
public protocol SocketIOClusterReceiver: Sendable {
    /// The server's id in the cluster.
    var node: SocketIONodeID { get }
    /// Handles a message from another server or an emitter.
    func receivedMessage(_ message: SocketIOClusterMessage)
    /// Handles a response to a request of this server. Ignores a response that is late or for
    /// another server.
    func receivedResponse(_ response: SocketIOClusterResponse)
    /// Handles the end or the failure of another server. Pending requests no longer wait for it.
    func left(_ node: SocketIONodeID)
}

/// The settings for detecting failed servers by heartbeats.
public struct SocketIOClusterHeartbeat: Hashable, Sendable {
    /// The time between two heartbeats of a server. Default: 5 seconds, as in Node's adapters.
    public var interval: Duration
    /// The time without a message after which a server counts as failed. Default: 10 seconds, as in
    /// Node's adapters.
    public var timeout: Duration

    /// - Parameters:
    ///   - interval: The time between two heartbeats. Default: 5 seconds.
    ///   - timeout: The time without a message after which a server counts as failed; greater than
    ///     `interval`. Default: 10 seconds.
    public init(interval: Duration = .seconds(5), timeout: Duration = .seconds(10)) {
        self.interval = interval
        self.timeout = timeout
    }
}
