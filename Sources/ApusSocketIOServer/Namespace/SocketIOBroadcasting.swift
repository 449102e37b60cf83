import ApusSocketIOProtocol

/// A starting point for emits: a whole namespace or a part of one, which can be narrowed further.
public protocol SocketIOBroadcasting: Sendable {
    /// An emit to every socket of this target.
    var broadcast: SocketIOBroadcast { get }
}

// Targets.
extension SocketIOBroadcasting {
    /// Adds rooms. Without rooms, the emit targets the whole namespace. A socket in several of the
    /// rooms receives the event once.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms. An empty array changes nothing.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.with { $0.targets.rooms.formUnion(rooms) } }

    /// Adds rooms; an alias of `to`.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.to(rooms) }

    /// Adds rooms; an alias of `to`.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.to(rooms) }

    /// Excludes the members of these rooms. A socket's id is the name of its own room.
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.except(rooms) }

    /// Excludes the members of these rooms. A socket's id is the name of its own room.
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.with { $0.targets.except.formUnion(rooms) } }

    /// Limits the emit to the sockets of this server.
    public var local: SocketIOBroadcast { self.broadcast.with { $0.flags.isLocal = true } }
}

// Flags.
extension SocketIOBroadcasting {
    /// Drops the event for a client that cannot receive it now.
    public var volatile: SocketIOBroadcast { self.broadcast.with { $0.flags.isVolatile = true } }

    /// Sets whether the transport may compress the event. Default: `true`. Pass `false` for data
    /// that is compressed already.
    public func compress(_ isCompressed: Bool) -> SocketIOBroadcast { self.broadcast.with { $0.flags.isCompressed = isCompressed } }

    /// Sets the time that `emitWithAck` and `fetchSockets` wait for answers. Default: the
    /// configuration's `ackTimeout` and `clusterTimeout`.
    public func timeout(_ timeout: Duration) -> SocketIOBroadcast { self.broadcast.with { $0.flags.timeout = timeout } }
}
