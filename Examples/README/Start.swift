// The code of the README, compiled. `scripts/check-snippets` sees to it that the page and this file agree.
import ApusSocketIOClient
import ApusSocketIOServer
import ApusWebSocket

func startClient() async throws {
    let manager = SocketManager(url: "http://127.0.0.1:3000")
    let socket = manager.defaultSocket
    socket.on("welcome") { data, ack in print(data) }
    try await socket.connect(timeout: .seconds(15))
    let sum = try await socket.emitWithAck("add", 1, 2, timeout: .seconds(5), as: Int.self)
    socket.emit("chat message", "在吗？")
    for await text in socket.messages("chat message", as: String.self) {
        print(text, sum)
    }
}

func startServer() async throws {
    let io = SocketIOServer()
    io.namespace("/").onConnection { socket in
        socket.emit("welcome", "Hello")
        socket.on("chat message") { (text: String) in socket.broadcast.emit("chat message", text) }
        socket.on("add") { (a: Int, b: Int) in a + b }  // what a handler returns is the ack
    }
    try await io.run(host: "127.0.0.1", port: 3000)
}
