import ApusSocketIOProtocol

// Emits to the others. None of them reaches the socket itself.
extension SocketIOServerSocket {
    /// Everybody in the namespace but this socket.
    public var broadcast: SocketIOBroadcast {
        SocketIOBroadcast(namespace: self.namespace, targets: SocketIOTargets(except: [self.id]))
    }

    /// The members of these rooms but this socket.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// The members of these rooms but this socket.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// The members of these rooms but this socket; `to` by its other name.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// The members of these rooms but this socket; `to` by its other name.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Everybody but this socket and the members of these rooms.
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.except(rooms) }

    /// Everybody but this socket and the members of these rooms.
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.except(rooms) }

    /// The others that are connected to this server, whoever else is in the cluster.
    public var local: SocketIOBroadcast { self.broadcast.local }
}
