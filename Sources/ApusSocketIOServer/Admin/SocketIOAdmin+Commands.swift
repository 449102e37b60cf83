import ApusJSON
import ApusSocketIOProtocol

// What the page asks for. The last argument is a room, or absent for everybody of the namespace.
extension SocketIOAdmin {
    func listen(to page: SocketIOServerSocket) {
        _ = page.on("emit") { [weak self] (event: SocketIOEvent) in
            let arguments = event.arguments
            guard arguments.count >= 3, let name = arguments[2].stringValue else { return }
            self?.meant(arguments[0], filter: arguments[1])?.emit(name, arguments: Array(arguments[3...]))
        }
        _ = page.on("join") { [weak self] (event: SocketIOEvent) in
            guard let (meant, room) = self?.roomCommand(event) else { return }
            meant.socketsJoin(room)
        }
        _ = page.on("leave") { [weak self] (event: SocketIOEvent) in
            guard let (meant, room) = self?.roomCommand(event) else { return }
            meant.socketsLeave(room)
        }
        _ = page.on("_disconnect") { [weak self] (event: SocketIOEvent) in
            let arguments = event.arguments
            guard let namespace = arguments.first else { return }
            let close = arguments.count > 1 ? arguments[1].boolValue ?? false : false
            self?.meant(namespace, filter: arguments.count > 2 ? arguments[2] : .null)?.disconnectSockets(close: close)
        }
    }

    private func roomCommand(_ event: SocketIOEvent) -> (SocketIOBroadcast, String)? {
        let arguments = event.arguments
        guard arguments.count >= 2, let room = arguments[1].stringValue else { return nil }
        return self.meant(arguments[0], filter: arguments.count > 2 ? arguments[2] : .null).map { ($0, room) }
    }

    /// A namespace that exists, and in it the room; a room that is no text is nobody's, so that a mistake does not reach everybody.
    private func meant(_ namespace: SocketIOValue, filter: SocketIOValue) -> SocketIOBroadcast? {
        guard let name = namespace.stringValue, let found = self.server?.existingNamespace(name) else { return nil }
        switch filter {
        case .null: return found.broadcast
        case .string(let room): return room.isEmpty ? found.broadcast : found.to(room)
        case .bool, .integer, .double, .binary, .date, .array, .object: return nil
        }
    }
}
