// The code of the page "Your first server". `scripts/check-snippets` compares the two.
import ApusJSON
import ApusSocketIOServer
import Hummingbird

struct Order: Codable, Sendable {
    var item: String
}

struct Account: Sendable {
    var name: String
}

protocol Shop: Sendable {
    func place(_ order: Order) async throws -> Int
}

protocol Users: Sendable {
    func user(for token: String) async throws -> Account?
}

func run() async throws {
    let io = SocketIOServer()
    io.namespace("/").onConnection { socket in
        socket.on("chat message") { (text: String) in socket.broadcast.emit("chat message", text) }
        socket.on("add") { (a: Int, b: Int) in a &+ b }
    }
    try await io.run(host: "127.0.0.1", port: 3000)
}

func takeOrders(socket: SocketIOServerSocket, shop: any Shop) {
    socket.on("order") { (order: Order) async throws in
        try await shop.place(order)
    }
}

func ask(socket: SocketIOServerSocket) async throws -> String {
    let answer = try await socket.emitWithAck("are you there?", timeout: .seconds(5), as: String.self)
    return answer
}

func admit(io: SocketIOServer, users: any Users) {
    io.namespace("/shop").use { socket in
        guard let token = socket.handshake.auth["token"]?.stringValue, let user = try await users.user(for: token) else {
            throw SocketIOConnectionRefusal(message: "unauthorized", data: ["retry": false])
        }
        socket.setValue(user, for: "user")
        socket.join("user:\(user.name)")
    }
}

func tell(io: SocketIOServer, order: Order) {
    io.namespace("/shop").to("user:alice").emit("shipped", order)
    io.namespace("/shop").except("guests").volatile.emit("price", 12.5)
}

func vote(io: SocketIOServer) async throws {
    let votes = try await io.namespace("/shop").to("jury").timeout(.seconds(3)).emitWithAck("vote?", "red or blue?", as: String.self)
    print(votes.count, votes.isComplete)
}

func mount(io: SocketIOServer) -> some ApplicationProtocol {
    let router = Router()
    router.get("health") { _, _ in "ok" }
    let application = Application(
        router: router, server: .http1(configuration: .init(additionalChannelHandlers: io.channelHandlers())))
    return application
}

func join() -> SocketIOServer {
    let cluster = SocketIOLocalCluster()
    var configuration = SocketIOServerConfiguration()
    configuration.cluster = cluster.transport()
    let first = SocketIOServer(configuration: configuration)
    return first
}
