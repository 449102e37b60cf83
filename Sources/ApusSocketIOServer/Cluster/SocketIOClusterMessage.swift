public import ApusJSON
public import ApusSocketIOProtocol

/// What one server of a cluster tells the others about a namespace.
///
/// Source: the cluster messages of the reference's adapters (sharded Redis, streams, Postgres); the requests of the Redis adapter mean the same.
public struct SocketIOClusterMessage: Hashable, Sendable {
    /// Who says it; ``SocketIONodeID/emitter`` is nobody's server.
    public var sender: SocketIONodeID
    /// The namespace it is about; heartbeats are about the whole server, and say `/`.
    public var namespace: String
    /// What it says.
    public var content: Content

    /// - Parameters:
    ///   - sender: Who says it.
    ///   - namespace: The namespace it is about.
    ///   - content: What it says.
    public init(sender: SocketIONodeID, namespace: String, content: Content) {
        self.sender = sender
        self.namespace = namespace
        self.content = content
    }

    /// What a message says. Where it has a `request`, the sender waits for responses under that id.
    public enum Content: Hashable, Sendable {
        /// 1: the sender is new; everybody answers with a heartbeat.
        case initialHeartbeat
        /// 2: the sender is there.
        case heartbeat
        /// 13: the sender leaves.
        case close
        /// 3: an event for clients. With a request, each asked server says how many clients it has for it, and sends on each ack.
        case broadcast(event: String, arguments: [SocketIOValue], targets: SocketIOTargets, flags: SocketIOEmitFlags, request: String?)
        /// 4: these sockets enter rooms.
        case join(targets: SocketIOTargets, rooms: [String])
        /// 5: these sockets leave rooms.
        case leave(targets: SocketIOTargets, rooms: [String])
        /// 6: these sockets are disconnected, from the namespace or (`close`) altogether.
        case disconnect(targets: SocketIOTargets, close: Bool)
        /// 7: who are these sockets?
        case fetchSockets(targets: SocketIOTargets, request: String)
        /// 9: an event for the servers themselves.
        case serverSideEmit(event: String, arguments: [SocketIOValue], request: String?)
    }
}

/// What a server answers to one that asked.
public struct SocketIOClusterResponse: Hashable, Sendable {
    /// Who answers; `nil` where the wire does not say.
    public var sender: SocketIONodeID?
    /// The namespace of the request.
    public var namespace: String
    /// The id of the request.
    public var request: String
    /// The answer.
    public var content: Content

    /// - Parameters:
    ///   - sender: Who answers; `nil` where the wire does not say.
    ///   - namespace: The namespace of the request.
    ///   - request: The id of the request.
    ///   - content: The answer.
    public init(sender: SocketIONodeID?, namespace: String, request: String, content: Content) {
        self.sender = sender
        self.namespace = namespace
        self.request = request
        self.content = content
    }

    /// What an answer says.
    public enum Content: Hashable, Sendable {
        /// 8: the sockets that were asked for.
        case sockets([SocketIOSocketDescription])
        /// 10: what the server's handler answered.
        case serverSideEmit(SocketIOValue)
        /// 11: so many clients got the event; their acks follow.
        case clientCount(Int)
        /// 12: the ack of one client.
        case acknowledgement([SocketIOValue])
    }
}

/// What servers tell each other of a socket.
public struct SocketIOSocketDescription: Hashable, Sendable {
    /// The socket's id.
    public var id: String
    /// What the client said when it connected, as the reference server writes it: `headers`, `time`, `address`, `query`, `auth` and so on.
    public var handshake: SocketIOValue
    /// The rooms the socket is in, its own included.
    public var rooms: SocketIORoomNames
    /// The socket's `data`.
    public var data: SocketIOValue

    /// - Parameters:
    ///   - id: The socket's id.
    ///   - handshake: What the client said when it connected.
    ///   - rooms: The rooms the socket is in.
    ///   - data: The socket's `data`.
    public init(id: String, handshake: SocketIOValue, rooms: SocketIORoomNames, data: SocketIOValue) {
        self.id = id
        self.handshake = handshake
        self.rooms = rooms
        self.data = data
    }
}
