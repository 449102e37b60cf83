/// A change of a room of a namespace on this server. The rooms include each socket's own room.
public enum SocketIORoomEvent: Hashable, Sendable {
    /// The room has its first member. ``joined(room:socket:)`` follows.
    case created(room: String)
    /// A socket joined the room.
    case joined(room: String, socket: String)
    /// A socket left the room, with `leave` or because it disconnected.
    case left(room: String, socket: String)
    /// The last member has left the room.
    case deleted(room: String)
}
