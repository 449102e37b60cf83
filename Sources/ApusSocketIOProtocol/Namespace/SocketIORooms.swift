/// Who is in which room of one namespace, both ways round. A room exists while somebody is in it.
///
/// Every socket is also in a room of its own, named by its id, so that "one socket" and "a room" are one idea.
package struct SocketIORooms: Sendable {
    /// All members but the socket of that name: in nearly every room of a socket's own name there is nobody else.
    private var othersByRoom: [String: SocketIONames] = [:]
    private var roomsBySocket: [String: SocketIONames] = [:]

    package init() {}

    package func rooms(of socket: String) -> Set<String> { self.roomsBySocket[socket]?.set ?? [] }

    package func members(of room: String) -> SocketIONames {
        var members = self.othersByRoom[room] ?? SocketIONames()
        if self.isInOwnRoom(room) { _ = members.insert(room) }
        return members
    }

    private func isInOwnRoom(_ socket: String) -> Bool { self.roomsBySocket[socket]?.contains(socket) ?? false }

    private func exists(_ room: String) -> Bool { self.othersByRoom[room] != nil || self.isInOwnRoom(room) }

    /// The rooms that exist, those of single sockets included.
    package var names: [String] {
        self.othersByRoom.keys + self.roomsBySocket.lazy.filter { self.othersByRoom[$0] == nil && $1.contains($0) }.map(\.key)
    }

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
        let isFirst = !self.exists(room)
        guard self.roomsBySocket[socket, default: .init()].insert(room) else { return .none }
        if room != socket { _ = self.othersByRoom[room, default: .init()].insert(socket) }
        return isFirst ? .memberAndRoom : .member
    }

    @discardableResult package mutating func leave(_ socket: String, _ room: String) -> Change {
        guard self.roomsBySocket[socket]?.remove(room) == true else { return .none }
        if self.roomsBySocket[socket]?.isEmpty == true { self.roomsBySocket[socket] = nil }
        self.removeOther(socket, of: room)
        return self.exists(room) ? .member : .memberAndRoom
    }

    package mutating func leaveAll(_ socket: String) {
        for room in self.roomsBySocket.removeValue(forKey: socket) ?? .init() { self.removeOther(socket, of: room) }
    }

    private mutating func removeOther(_ socket: String, of room: String) {
        guard room != socket else { return }
        _ = self.othersByRoom[room]?.remove(socket)
        if self.othersByRoom[room]?.isEmpty == true { self.othersByRoom[room] = nil }
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
