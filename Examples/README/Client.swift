import ApusEventLoop
import ApusSocketIOClient

func runClient() async throws {
    let manager = SocketIOManager(url: "http://127.0.0.1:3000")
    let socket = manager.defaultSocket
    socket.on("welcome") { data, ack in print(data) }
    try await socket.connect(timeout: .seconds(15))
    let sum = try await socket.emitWithAck("add", 1, 2, timeout: .seconds(5), as: Int.self)
    socket.emit("chat message", "在吗？")
    for await text in socket.messages("chat message", as: String.self, bufferingPolicy: .bufferingNewest(1000)) {
        print(text, sum)
    }
}
