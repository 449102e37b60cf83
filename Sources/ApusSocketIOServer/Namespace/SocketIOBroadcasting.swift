import ApusSocketIOProtocol

/// What an emit can start from: a whole namespace, or a part of one that is narrowed further.
public protocol SocketIOBroadcasting: Sendable {
    /// An emit to everybody this stands for.
    var broadcast: SocketIOBroadcast { get }
}

// Who.
extension SocketIOBroadcasting {
    /// Adds rooms. Without any, everybody in the namespace is meant. A socket in several of them gets the event once.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms. An array without any changes nothing.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.with { $0.targets.rooms.formUnion(rooms) } }

    /// Adds rooms; `to` by its other name.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms; `to` by its other name.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.to(rooms) }

    /// Leaves out the members of these rooms (a socket's id is a room too).
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.except(rooms) }

    /// Leaves out the members of these rooms (a socket's id is a room too).
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.with { $0.targets.except.formUnion(rooms) } }

    /// Means only the sockets connected to this server, whoever else is in the cluster.
    public var local: SocketIOBroadcast { self.broadcast.with { $0.flags.isLocal = true } }
}

// How.
extension SocketIOBroadcasting {
    /// Lets the event be lost for a client that is not ready to receive it now.
    public var volatile: SocketIOBroadcast { self.broadcast.with { $0.flags.isVolatile = true } }

    /// Whether a transport that compresses may compress the event. Default: yes. Say no for what is compressed already.
    public func compress(_ isCompressed: Bool) -> SocketIOBroadcast { self.broadcast.with { $0.flags.isCompressed = isCompressed } }

    /// How long `emitWithAck` and `fetchSockets` wait for answers. Default: the configuration's `ackTimeout` and
    /// `clusterTimeout`.
    public func timeout(_ timeout: Duration) -> SocketIOBroadcast { self.broadcast.with { $0.flags.timeout = timeout } }
}
