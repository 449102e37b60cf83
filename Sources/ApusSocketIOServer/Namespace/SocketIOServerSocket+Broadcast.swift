import ApusSocketIOProtocol

// Emits to other sockets. The socket itself is excluded.
extension SocketIOServerSocket {
    /// An emit to every other socket of the namespace.
    public var broadcast: SocketIOBroadcast {
        SocketIOBroadcast(namespace: self.namespace, targets: SocketIOTargets(except: [self.id]))
    }

    /// Returns an emit to the other members of these rooms.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns an emit to the other members of these rooms.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns an emit to the other members of these rooms; an alias of `to`.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns an emit to the other members of these rooms; an alias of `to`.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns an emit to every other socket outside these rooms.
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.except(rooms) }

    /// Returns an emit to every other socket outside these rooms.
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.except(rooms) }

    /// An emit to the other sockets of this server.
    public var local: SocketIOBroadcast { self.broadcast.local }
}
