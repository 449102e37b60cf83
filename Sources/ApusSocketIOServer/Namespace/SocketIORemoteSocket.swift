public import ApusJSON
public import ApusSocketIOProtocol

/// A snapshot of a socket on any server of the cluster, with the operations that any server can
/// apply to it.
public struct SocketIORemoteSocket: Sendable {
    /// The socket's id.
    public let id: String
    /// The data of the client's handshake.
    public let handshake: SocketIOHandshake
    /// The rooms of the socket, including its own.
    public let rooms: SocketIORoomNames
    /// The socket's `data`.
    public let data: SocketIOValue
    /// The broadcast to this socket only. Use it for `volatile`, `compress`, `timeout` or an ack.
    public let emitter: SocketIOBroadcast

    init(_ description: SocketIOSocketDescription, namespace: SocketIONamespace, isLocal: Bool) {
        self.id = description.id
        self.handshake = SocketIOHandshake(value: description.handshake)
        self.rooms = description.rooms
        var data = description.data
        _ = data.removeAdminDetails()
        self.data = data
        // The socket's own room: the socket is its only member, and the server of the socket has
        // the room.
        let own = SocketIOBroadcast(namespace: namespace, targets: SocketIOTargets(rooms: [description.id]))
        self.emitter = isLocal ? own.local : own
    }

    /// Sends an event to the socket. An event that cannot be encoded is logged and not sent.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit(_ event: String, arguments: [SocketIOValue]) { self.emitter.emit(event, arguments: arguments) }

    /// Sends an event with these arguments to the socket.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        self.emitter.emit(event, repeat each arguments)
    }

    /// Makes the socket join rooms.
    public func join(_ rooms: String...) { self.emitter.socketsJoin(rooms) }

    /// Makes the socket leave rooms.
    public func leave(_ rooms: String...) { self.emitter.socketsLeave(rooms) }

    /// Disconnects the socket from this namespace or, with `close`, closes its connection.
    public func disconnect(close: Bool = false) { self.emitter.disconnectSockets(close: close) }
}
