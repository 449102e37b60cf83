/// Selects sockets of a namespace: the members of any of `rooms`, without the members of any of
/// `except`.
///
/// The id of a socket is also a room, so that one socket can be addressed in the same way as a
/// room. Source: the `opts` of the adapters of Node's Socket.IO.
public struct SocketIOTargets: Hashable, Sendable {
    /// The rooms whose members are selected. An empty set selects the whole namespace.
    public var rooms: SocketIORoomNames
    /// The rooms whose members are excluded, even if they are in another selected room.
    public var except: SocketIORoomNames

    /// Creates a selection.
    ///
    /// - Parameters:
    ///   - rooms: The rooms whose members are selected. Default: the whole namespace.
    ///   - except: The rooms whose members are excluded. Default: none.
    public init(rooms: SocketIORoomNames = [], except: SocketIORoomNames = []) {
        self.rooms = rooms
        self.except = except
    }

    /// Whether the whole namespace is selected.
    package var includesAllSockets: Bool { self.rooms.isEmpty && self.except.isEmpty }

    /// Returns whether a socket in these rooms is selected.
    package func include(memberOf rooms: SocketIORoomNames) -> Bool {
        (self.rooms.isEmpty || !self.rooms.isDisjoint(with: rooms)) && self.except.isDisjoint(with: rooms)
    }
}
