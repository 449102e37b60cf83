import ApusJSON

/// The rooms of one namespace, indexed by room and by socket. A room exists while it has a member.
///
/// Every socket is also in a room named by its id, so that addressing one socket and addressing a
/// room are one operation.
package struct SocketIORooms: Sendable {
    /// The members of each room. A socket is not included in the room named by its own id, which
    /// rarely has another member.
    private var othersByRoom: [UTF8Key: SocketIORoomNames] = [:]
    private var roomsBySocket: [UTF8Key: SocketIORoomNames] = [:]

    package init() {}

    package func rooms(of socket: String) -> SocketIORoomNames { self.roomsBySocket[UTF8Key(socket)] ?? [] }

    package func members(of room: String) -> SocketIORoomNames {
        var members = self.othersByRoom[UTF8Key(room)] ?? SocketIORoomNames()
        if self.isInOwnRoom(room) { members.insert(room) }
        return members
    }

    private func isInOwnRoom(_ socket: String) -> Bool { self.roomsBySocket[UTF8Key(socket)]?.contains(socket) ?? false }

    private func exists(_ room: String) -> Bool { self.othersByRoom[UTF8Key(room)] != nil || self.isInOwnRoom(room) }

    /// The rooms that exist, including those of single sockets.
    package var names: [String] {
        self.othersByRoom.keys.map(\.string)
            + self.roomsBySocket.lazy.filter { self.othersByRoom[$0] == nil && $1.contains($0.string) }.map(\.key.string)
    }

    /// The effect of a call on a room.
    package enum Change: Equatable, Sendable {
        /// The membership did not change.
        case none
        /// A socket joined or left, and the room has other members.
        case member
        /// The first member joined, or the last member left.
        case memberAndRoom
    }

    @discardableResult package mutating func join(_ socket: String, _ room: String) -> Change {
        let isFirst = !self.exists(room)
        guard self.roomsBySocket[UTF8Key(socket), default: .init()].insert(room) else { return .none }
        if !UTF8Key.areEqual(room, socket) { self.othersByRoom[UTF8Key(room), default: .init()].insert(socket) }
        return isFirst ? .memberAndRoom : .member
    }

    @discardableResult package mutating func leave(_ socket: String, _ room: String) -> Change {
        guard self.roomsBySocket[UTF8Key(socket)]?.remove(room) == true else { return .none }
        if self.roomsBySocket[UTF8Key(socket)]?.isEmpty == true { self.roomsBySocket[UTF8Key(socket)] = nil }
        self.removeOther(socket, of: room)
        return self.exists(room) ? .member : .memberAndRoom
    }

    package mutating func leaveAll(_ socket: String) {
        for room in self.roomsBySocket.removeValue(forKey: UTF8Key(socket)) ?? .init() { self.removeOther(socket, of: room) }
    }

    private mutating func removeOther(_ socket: String, of room: String) {
        guard !UTF8Key.areEqual(room, socket) else { return }
        self.othersByRoom[UTF8Key(room)]?.remove(socket)
        if self.othersByRoom[UTF8Key(room)]?.isEmpty == true { self.othersByRoom[UTF8Key(room)] = nil }
    }

    /// Returns the sockets that the targets select, without duplicates.
    package func members(of targets: SocketIOTargets) -> SocketIORoomNames {
        // A single room, the most common target, is not copied.
        if targets.except.isEmpty, targets.rooms.count == 1, let room = targets.rooms.first(where: { _ in true }) {
            return self.members(of: room)
        }
        var members: SocketIORoomNames = targets.rooms.isEmpty ? .init(self.roomsBySocket.keys.lazy.map(\.string)) : []
        for room in targets.rooms { members.formUnion(self.members(of: room)) }
        for room in targets.except { members.subtract(self.members(of: room)) }
        return members
    }
}
