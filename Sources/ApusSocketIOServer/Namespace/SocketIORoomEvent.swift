/// What happened to a room of a namespace on this server. A socket's own room counts too.
public enum SocketIORoomEvent: Hashable, Sendable {
    /// The room has its first member; ``joined(room:socket:)`` follows.
    case created(room: String)
    /// A socket entered the room.
    case joined(room: String, socket: String)
    /// A socket left the room, by itself or because it disconnected.
    case left(room: String, socket: String)
    /// The last member has left.
    case deleted(room: String)
}
