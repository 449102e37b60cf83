import ApusJSON
import ApusSocketIOProtocol

// The commands of the page. The last argument is a room; without it, the command applies to the
// whole namespace.
extension SocketIOAdmin {
    func listen(to page: SocketIOServerSocket) {
        _ = page.on("emit") { [weak self] (event: SocketIOReceivedEvent) in
            let arguments = event.arguments
            guard arguments.count >= 3, let name = arguments[2].stringValue else { return }
            self?.target(arguments[0], filter: arguments[1])?.emit(name, arguments: Array(arguments[3...]))
        }
        _ = page.on("join") { [weak self] (event: SocketIOReceivedEvent) in
            guard let (target, room) = self?.roomCommand(event) else { return }
            target.socketsJoin(room)
        }
        _ = page.on("leave") { [weak self] (event: SocketIOReceivedEvent) in
            guard let (target, room) = self?.roomCommand(event) else { return }
            target.socketsLeave(room)
        }
        _ = page.on("_disconnect") { [weak self] (event: SocketIOReceivedEvent) in
            let arguments = event.arguments
            guard let namespace = arguments.first else { return }
            let close = arguments.count > 1 ? arguments[1].boolValue ?? false : false
            self?.target(namespace, filter: arguments.count > 2 ? arguments[2] : .null)?.disconnectSockets(close: close)
        }
    }

    private func roomCommand(_ event: SocketIOReceivedEvent) -> (SocketIOBroadcast, String)? {
        let arguments = event.arguments
        guard arguments.count >= 2, let room = arguments[1].stringValue else { return nil }
        return self.target(arguments[0], filter: arguments.count > 2 ? arguments[2] : .null).map { ($0, room) }
    }

    /// Returns a broadcast to the namespace, if it exists, or to one of its rooms. A room that is
    /// not a string matches nothing, so that a malformed command does not reach every socket.
    private func target(_ namespace: SocketIOValue, filter: SocketIOValue) -> SocketIOBroadcast? {
        guard let name = namespace.stringValue, let found = self.server?.existingNamespace(name) else { return nil }
        switch filter {
        case .null: return found.broadcast
        case .string(let room): return room.isEmpty ? found.broadcast : found.to(room)
        case .bool, .integer, .double, .binary, .date, .array, .object: return nil
        }
    }
}
