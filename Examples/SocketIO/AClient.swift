// The code of the page "A client". `scripts/check-snippets` compares the two.
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol

func firstSteps() async throws {
    let manager = SocketIOManager(url: "https://example.com", configuration: .init(auth: ["token": "…"]))
    let socket = manager.defaultSocket
    socket.on("chat message") { (text: String) in
        print(text)
    }
    try await socket.connect(timeout: .seconds(15))
    socket.emit("chat message", "hello")
    let sum = try await socket.emitWithAck("add", 1, 2, timeout: .seconds(5), as: Int.self)
    print(sum)
    await manager.close()
}

struct ChatMessage: Codable, Sendable {
    var sender: String
    var text: String
}

enum Chat {
    static let message = SocketIOEvent<ChatMessage>("chat message")
    static let moved = SocketIOEvent<Int, Int>("moved")
    static let add = SocketIORequest<Int, Int, Int>("add")
}

func declared(_ socket: SocketIOClient) async throws {
    socket.on(Chat.moved) { x, y in
        print(x, y)
    }
    socket.emit(Chat.message, ChatMessage(sender: "ada", text: "hello"))
    let sum = try await socket.emitWithAck(Chat.add, 1, 2)
    print(sum)
    for await message in socket.messages(Chat.message, bufferingPolicy: .bufferingNewest(1000)) {
        print(message.sender, message.text)
    }
}

func answering(_ socket: SocketIOClient) {
    socket.on("add") { (a: Int, b: Int) in
        a &+ b
    }
    socket.on("raw") { data, ack in
        ack.with("got", .integer(Int64(data.count)))
    }
}

func watching(_ socket: SocketIOClient) async {
    for await event in socket.lifecycle(bufferingPolicy: .bufferingNewest(1000)) {
        switch event {
        case .connect(let id): print("connected as", id, socket.isRecovered ? "again" : "")
        case .disconnect(let reason): print(reason, reason.permitsReconnect ? "coming back" : "gone")
        case .error(let error): print(error.code, error.message)
        default: break
        }
    }
}

func renewed(token: @escaping @Sendable () async throws -> String) -> SocketIOManager {
    SocketIOManager(
        url: "https://example.com",
        configuration: SocketIOManagerConfiguration { ["token": .string(try await token())] })
}

func flags(_ socket: SocketIOClient, photo: [UInt8]) {
    socket.volatile.emit("position", 48.2, 16.4)
    socket.compress(false).emit("photo", arguments: [.binary(photo)])
}

func atLeastOnce() -> SocketIOManager {
    var configuration = SocketIOManagerConfiguration()
    configuration.retries = 10
    configuration.ackTimeout = .seconds(5)
    return SocketIOManager(url: "https://example.com", configuration: configuration)
}
