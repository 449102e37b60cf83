import ApusSocketIOServer

func runServer() async throws {
    let io = SocketIOServer()
    io.namespace("/").onConnection { socket in
        socket.emit("welcome", "Hello")
        socket.on("chat message") { (text: String) in socket.broadcast.emit("chat message", text) }
        socket.on("add") { (a: Int, b: Int) in a &+ b }  // the return value is the ack
    }
    try await io.run(host: "127.0.0.1", port: 3000)
}
