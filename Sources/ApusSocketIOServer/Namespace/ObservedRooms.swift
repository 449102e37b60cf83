import ApusSocketIOProtocol

/// The rooms of a namespace, which report their changes as events. Without observers, no events are
/// recorded.
struct ObservedRooms {
    private(set) var rooms = SocketIORooms()
    /// Whether any observer is registered.
    var isWatched = false

    mutating func join(_ socket: String, _ room: String, telling events: inout [SocketIORoomEvent]) {
        let change = self.rooms.join(socket, room)
        guard self.isWatched else { return }
        switch change {
        case .memberAndRoom: events += [.created(room: room), .joined(room: room, socket: socket)]
        case .member: events.append(.joined(room: room, socket: socket))
        case .none: break
        }
    }

    mutating func leave(_ socket: String, _ room: String, telling events: inout [SocketIORoomEvent]) {
        let change = self.rooms.leave(socket, room)
        guard self.isWatched else { return }
        switch change {
        case .memberAndRoom: events += [.left(room: room, socket: socket), .deleted(room: room)]
        case .member: events.append(.left(room: room, socket: socket))
        case .none: break
        }
    }

    mutating func leaveAll(_ socket: String, telling events: inout [SocketIORoomEvent]) {
        guard self.isWatched else { return self.rooms.leaveAll(socket) }
        for room in self.rooms.rooms(of: socket).sorted() { self.leave(socket, room, telling: &events) }
    }
}
