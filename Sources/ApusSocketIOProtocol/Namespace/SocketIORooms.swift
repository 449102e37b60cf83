/// Who is in which room of one namespace, both ways round. A room exists while somebody is in it.
///
/// Every socket is also in a room of its own, named by its id, so that "one socket" and "a room" are one idea.
package struct SocketIORooms: Sendable {
    private var membersByRoom: [String: Set<String>] = [:]
    private var roomsBySocket: [String: Set<String>] = [:]

    package init() {}

    package func rooms(of socket: String) -> Set<String> { self.roomsBySocket[socket] ?? [] }

    package func members(of room: String) -> Set<String> { self.membersByRoom[room] ?? [] }

    package var roomCount: Int { self.membersByRoom.count }

    package mutating func join(_ socket: String, _ room: String) {
        self.membersByRoom[room, default: []].insert(socket)
        self.roomsBySocket[socket, default: []].insert(room)
    }

    package mutating func leave(_ socket: String, _ room: String) {
        guard self.roomsBySocket[socket]?.remove(room) != nil else { return }
        if self.roomsBySocket[socket]?.isEmpty == true { self.roomsBySocket[socket] = nil }
        self.removeMember(socket, of: room)
    }

    package mutating func leaveAll(_ socket: String) {
        for room in self.roomsBySocket.removeValue(forKey: socket) ?? [] {
            self.removeMember(socket, of: room)
        }
    }

    private mutating func removeMember(_ socket: String, of room: String) {
        self.membersByRoom[room]?.remove(socket)
        if self.membersByRoom[room]?.isEmpty == true { self.membersByRoom[room] = nil }
    }

    /// The sockets that an emit to `rooms` reaches, each once: every member when `rooms` is empty, less the members of `excluded`.
    package func targets(rooms: Set<String>, excluding excluded: Set<String>) -> Set<String> {
        var targets: Set<String> = rooms.isEmpty ? Set(self.roomsBySocket.keys) : []
        for room in rooms { targets.formUnion(self.members(of: room)) }
        for room in excluded { targets.subtract(self.members(of: room)) }
        return targets
    }
}
