// The code of the page "Many sockets and servers". `scripts/check-snippets` compares the two.
import ApusJSON
import ApusSocketIOServer

func broadcasts(_ io: SocketIOServer) async throws {
    let chat = io.namespace("/chat")
    chat.emit("news", "to everybody")
    chat.to("red", "blue").except("muted").emit("news", "to two rooms, each socket once")
    chat.volatile.compress(false).emit("frame", 1, 2, 3)
    chat.onConnection { socket in
        socket.to("red").emit("news", "to the others in red")
    }

    let votes = try await chat.to("jury").timeout(.seconds(10)).emitWithAck("vote", "now", as: Int.self)
    print(votes.reduce(0, +), "of", votes.expectedCount, votes.isComplete ? "" : "and some did not answer")

    for socket in try await chat.in("red").fetchSockets() {
        print(socket.id, socket.handshake.address, socket.rooms, socket.data)
    }
    chat.in("red").socketsJoin("colours")
    chat.in("muted").disconnectSockets()
}

func dynamicNamespaces(_ io: SocketIOServer) {
    let workspaces = io.namespaces(matching: /\/workspace-\d+/)
    workspaces.use { socket in
        guard socket.handshake.auth["token"] == "secret" else { throw SocketIOConnectionRefusal(message: "unauthorized") }
    }
    workspaces.onConnection { socket in
        socket.broadcast.emit("joined", socket.id)
    }
    io.onNewNamespace { namespace in
        print("made", namespace.name)
    }
}

func joined() -> [SocketIOServer] {
    let cluster = SocketIOLocalCluster()
    let servers = (0..<2).map { _ in
        var configuration = SocketIOServerConfiguration()
        configuration.cluster = cluster.transport()
        return SocketIOServer(configuration: configuration)
    }
    let emitter = SocketIOClusterEmitter(cluster.publisher)
    emitter.to("orders").emit("shipped", arguments: ["A-17"])
    return servers
}

func betweenServers(_ io: SocketIOServer) async throws {
    let root = io.namespace("/")
    root.onServerSideEvent("load") { event in
        event.acknowledge(["clients": 17])
    }
    root.serverSideEmit("reload", "settings")
    let loads = try await root.serverSideEmitWithAck("load", arguments: [])
    print(loads.count, "servers answered;", loads.silentServers, "did not")
}

func administered(_ io: SocketIOServer, passwordHash: String) {
    guard let password = SocketIOAdminPassword(text: passwordHash) else { return }
    var configuration = SocketIOAdminConfiguration(authentication: .basic(username: "admin", password: password))
    configuration.isReadOnly = true
    io.enableAdmin(configuration)
}
