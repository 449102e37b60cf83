public import ApusJSON
public import ApusSocketIOProtocol

/// A message about a namespace from one server of a cluster to the others.
///
/// Source: the cluster messages of Node's adapters (sharded Redis, Redis streams, Postgres). The
/// requests of the Redis adapter have the same meaning.
public struct SocketIOClusterMessage: Hashable, Sendable {
    /// The sending server; `SocketIONodeID.emitter` for a publisher that is not a server.
    public var sender: SocketIONodeID
    /// The namespace of the message. Heartbeats apply to the whole server and use `/`.
    public var namespace: String
    /// The content of the message.
    public var content: Content

    /// Creates a message.
    ///
    /// - Parameters:
    ///   - sender: The sending server.
    ///   - namespace: The namespace of the message.
    ///   - content: The content of the message.
    public init(sender: SocketIONodeID, namespace: String, content: Content) {
        self.sender = sender
        self.namespace = namespace
        self.content = content
    }

    /// The content of a message, with its type number in Node's adapters. With a `request`, the
    /// sender waits for responses with that id.
    public enum Content: Hashable, Sendable {
        /// 1: the sender is new. Every server answers with a heartbeat.
        case initialHeartbeat
        /// 2: the sender is running.
        case heartbeat
        /// 13: the sender leaves the cluster.
        case close
        /// 3: an event for clients. With a request, each server responds with the number of its
        /// recipients and forwards each ack.
        case broadcast(event: String, arguments: [SocketIOValue], targets: SocketIOTargets, flags: SocketIOEmitFlags, request: String?)
        /// 4: these sockets enter rooms.
        case join(targets: SocketIOTargets, rooms: [String])
        /// 5: these sockets leave rooms.
        case leave(targets: SocketIOTargets, rooms: [String])
        /// 6: these sockets are disconnected from the namespace or, with `close`, their connections
        /// are closed.
        case disconnect(targets: SocketIOTargets, close: Bool)
        /// 7: a request for the descriptions of these sockets.
        case fetchSockets(targets: SocketIOTargets, request: String)
        /// 9: an event for the servers.
        case serverSideEmit(event: String, arguments: [SocketIOValue], request: String?)
    }
}

/// A server's response to a request.
public struct SocketIOClusterResponse: Hashable, Sendable {
    /// The responding server; `nil` when the wire format omits it.
    public var sender: SocketIONodeID?
    /// The namespace of the request.
    public var namespace: String
    /// The id of the request.
    public var request: String
    /// The content of the response.
    public var content: Content

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - sender: The responding server; `nil` when the wire format omits it.
    ///   - namespace: The namespace of the request.
    ///   - request: The id of the request.
    ///   - content: The content of the response.
    public init(sender: SocketIONodeID?, namespace: String, request: String, content: Content) {
        self.sender = sender
        self.namespace = namespace
        self.request = request
        self.content = content
    }

    /// The content of a response, with its type number in Node's adapters.
    public enum Content: Hashable, Sendable {
        /// 8: the descriptions of the requested sockets.
        case sockets([SocketIOSocketDescription])
        /// 10: the answer of the server's handler.
        case serverSideEmit(SocketIOValue)
        /// 11: the number of clients that receive the event. Their acks follow.
        case clientCount(Int)
        /// 12: the ack of one client.
        case acknowledgement([SocketIOValue])
    }
}

/// A socket's description for other servers.
public struct SocketIOSocketDescription: Hashable, Sendable {
    /// The socket's id.
    public var id: String
    /// The data of the client's handshake in the form of socket.io for Node: `headers`, `time`,
    /// `address`, `query`, `auth` and so on.
    public var handshake: SocketIOValue
    /// The rooms of the socket, including its own.
    public var rooms: SocketIORoomNames
    /// The socket's `data`.
    public var data: SocketIOValue

    /// Creates a description.
    ///
    /// - Parameters:
    ///   - id: The socket's id.
    ///   - handshake: The data of the client's handshake.
    ///   - rooms: The rooms of the socket.
    ///   - data: The socket's `data`.
    public init(id: String, handshake: SocketIOValue, rooms: SocketIORoomNames, data: SocketIOValue) {
        self.id = id
        self.handshake = handshake
        self.rooms = rooms
        self.data = data
    }
}
