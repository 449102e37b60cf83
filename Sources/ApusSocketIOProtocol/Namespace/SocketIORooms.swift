/// Who is in which room of one namespace, both ways round. A room exists while somebody is in it.
///
/// Every socket is also in a room of its own, named by its id, so that "one socket" and "a room" are one idea.
package struct SocketIORooms: Sendable {
    private var membersByRoom: [String: SocketIONames] = [:]
    private var roomsBySocket: [String: SocketIONames] = [:]

    package init() {}

    package func rooms(of socket: String) -> Set<String> { self.roomsBySocket[socket]?.set ?? [] }

    package func members(of room: String) -> SocketIONames { self.membersByRoom[room] ?? SocketIONames() }

    /// The rooms that exist, those of single sockets included.
    package var names: [String] { Array(self.membersByRoom.keys) }

    /// What a call changed about a room, for whoever watches.
    package enum Change: Equatable, Sendable {
        /// Nothing: it was so already.
        case none
        /// A socket came or went; others are in the room.
        case member
        /// The first socket came, or the last one went.
        case memberAndRoom
    }

    @discardableResult package mutating func join(_ socket: String, _ room: String) -> Change {
        guard self.roomsBySocket[socket, default: .init()].insert(room) else { return .none }
        let isFirst = self.membersByRoom[room, default: .init()].add(socket) == 1
        return isFirst ? .memberAndRoom : .member
    }

    @discardableResult package mutating func leave(_ socket: String, _ room: String) -> Change {
        guard self.roomsBySocket[socket]?.remove(room) == true else { return .none }
        if self.roomsBySocket[socket]?.isEmpty == true { self.roomsBySocket[socket] = nil }
        return self.removeMember(socket, of: room)
    }

    package mutating func leaveAll(_ socket: String) {
        for room in self.roomsBySocket.removeValue(forKey: socket) ?? .init() {
            self.removeMember(socket, of: room)
        }
    }

    @discardableResult private mutating func removeMember(_ socket: String, of room: String) -> Change {
        _ = self.membersByRoom[room]?.remove(socket)
        guard self.membersByRoom[room]?.isEmpty == true else { return .member }
        self.membersByRoom[room] = nil
        return .memberAndRoom
    }

    /// The sockets that are meant, each once.
    package func members(of targets: SocketIOTargets) -> SocketIONames {
        // One room, the usual target, is not copied.
        if targets.except.isEmpty, targets.rooms.count == 1, let room = targets.rooms.first { return self.members(of: room) }
        var members: Set<String> = targets.rooms.isEmpty ? Set(self.roomsBySocket.keys) : []
        for room in targets.rooms { members.formUnion(self.members(of: room)) }
        for room in targets.except { members.subtract(self.members(of: room)) }
        return SocketIONames(members)
    }
}
