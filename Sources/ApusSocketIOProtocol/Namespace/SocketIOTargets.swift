/// Which sockets of a namespace are meant: the members of any of `rooms`, less the members of any of `except`.
///
/// A socket's id is a room too, so that "one socket" and "a room" are one idea. Source: the `opts` of the reference's adapters.
public struct SocketIOTargets: Hashable, Sendable {
    /// Whose members are meant; empty means everybody in the namespace.
    public var rooms: SocketIORoomNames
    /// Whose members are left out, whatever other room they are in.
    public var except: SocketIORoomNames

    /// - Parameters:
    ///   - rooms: Whose members are meant. Default: everybody.
    ///   - except: Whose members are left out. Default: nobody's.
    public init(rooms: SocketIORoomNames = [], except: SocketIORoomNames = []) {
        self.rooms = rooms
        self.except = except
    }

    /// Whether nobody of the namespace is left out.
    package var isEverybody: Bool { self.rooms.isEmpty && self.except.isEmpty }

    /// Whether a socket in these rooms is meant.
    package func include(memberOf rooms: SocketIORoomNames) -> Bool {
        (self.rooms.isEmpty || !self.rooms.isDisjoint(with: rooms)) && self.except.isDisjoint(with: rooms)
    }
}
