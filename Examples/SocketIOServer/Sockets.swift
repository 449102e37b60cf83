import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer

// The code of `ApusSocketIOServer.md`, `Sockets.md`, `Lost-connections.md` and
// `Coming-from-Node.md`.

func overview() async throws {
    let io = SocketIOServer()
    io.namespace("/").onConnection { socket in
        socket.on("chat message") { (text: String) in socket.broadcast.emit("chat message", text) }
        socket.on("add") { (a: Int, b: Int) in a &+ b }  // the return value is the ack
    }
    try await io.run(host: "127.0.0.1", port: 3000)
}

struct User: Codable, Sendable {
    var name: String
}

func handlers(io: SocketIOServer) {
    io.namespace("/").onConnection { socket in
        socket.on("raw") { (event: SocketIOReceivedEvent) in event.acknowledge("you sent", .array(event.arguments)) }
        socket.on("rename") { (name: String) in
            try socket.setData(User(name: name))
        }
        socket.on("history") { (room: String) in
            try await load(room)
        }
        let listener = socket.once("hello") { () in "only once" }
        socket.off(listener)
    }
}

func load(_ room: String) async throws -> [String] { [room] }

func failures() -> SocketIOServer {
    var configuration = SocketIOServerConfiguration()
    configuration.onHandlerError = { error, event, socket in
        print("\(event.name) of \(socket.id) failed: \(error)")
    }
    return SocketIOServer(configuration: configuration)
}

struct TooMuch: Error {}

func checks(io: SocketIOServer) {
    io.namespace("/").use { socket in
        guard socket.handshake.auth["token"] == "secret" else {
            throw SocketIOConnectionRefusal(message: "unauthorized", data: ["code": 401])
        }
    }
    io.namespace("/").onConnection { socket in
        socket.use { event in
            guard event.arguments.count < 10 else { throw TooMuch() }
        }
        socket.onAny { event in print("in:", event.name) }
        socket.onAnyOutgoing { event, _ in print("out:", event) }
    }
}

func sending(socket: SocketIOServerSocket) async throws {
    socket.emit("news", "hello", 42)
    socket.volatile.emit("position", 1.5, 2.5)
    socket.compress(false).emit("photo", SocketIOValue.binary([0xff, 0xd8]))
    let sum = try await socket.emitWithAck("add", 1, 2, timeout: .seconds(5), as: Int.self)
    socket.emitWithAck("sum", arguments: [.integer(Int64(sum))]) { result in
        print(result)
    }
}

func leaving(socket: SocketIOServerSocket) {
    socket.onDisconnecting { reason in
        for room in socket.rooms where room != socket.id { socket.to(room).emit("left", socket.id) }
        print(reason, reason.detail ?? "")
    }
}

func recovering() -> SocketIOServer {
    var configuration = SocketIOServerConfiguration()
    configuration.connectionStateRecovery = .init(maximumDisconnection: .seconds(300))
    let io = SocketIOServer(configuration: configuration)
    io.namespace("/").onConnection { socket in
        switch socket.recovery {
        case .complete: break  // id, rooms, data and missed events are back
        case .none, .incomplete: socket.emit("snapshot", "everything")
        }
    }
    return io
}
