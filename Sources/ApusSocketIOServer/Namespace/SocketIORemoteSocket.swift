public import ApusJSON
public import ApusSocketIOProtocol

/// A socket somewhere in the cluster, as it was when it was fetched, and what can be done with it from here.
public struct SocketIORemoteSocket: Sendable {
    /// The socket's id.
    public let id: String
    /// What the client said when it connected.
    public let handshake: SocketIOHandshake
    /// The rooms the socket was in, its own included.
    public let rooms: SocketIORoomNames
    /// The socket's `data`.
    public let data: SocketIOValue
    /// An emit to this one socket: to say `volatile`, `compress` or `timeout`, or to ask for an ack.
    public let emitter: SocketIOBroadcast

    init(_ description: SocketIOSocketDescription, namespace: SocketIONamespace, isLocal: Bool) {
        self.id = description.id
        self.handshake = SocketIOHandshake(value: description.handshake)
        self.rooms = description.rooms
        var data = description.data
        _ = data.removeAdminDetails()
        self.data = data
        // The socket's own room: nobody else is in it, and wherever the socket is, its server knows the room.
        let own = SocketIOBroadcast(namespace: namespace, targets: SocketIOTargets(rooms: [description.id]))
        self.emitter = isLocal ? own.local : own
    }

    /// Sends an event to the socket. What cannot be encoded is logged and not sent.
    public func emit(_ event: String, arguments: [SocketIOValue]) { self.emitter.emit(event, arguments: arguments) }

    /// Sends an event with these arguments to the socket.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        self.emitter.emit(event, repeat each arguments)
    }

    /// Makes the socket enter rooms.
    public func join(_ rooms: String...) { self.emitter.socketsJoin(rooms) }

    /// Makes the socket leave rooms.
    public func leave(_ rooms: String...) { self.emitter.socketsLeave(rooms) }

    /// Disconnects the socket. `close` ends its whole connection, not only this namespace.
    public func disconnect(close: Bool = false) { self.emitter.disconnectSockets(close: close) }
}
