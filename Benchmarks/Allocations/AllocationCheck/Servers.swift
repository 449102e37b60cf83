import ApusEngineIOProtocol
import ApusSocketIOServer
import ApusWebSocket
import CAllocationCounter
import NIOCore
import NIOPosix

/// Servers on one event loop.
enum Servers {
    static let all: [Measure] = [
        ("raw WebSocket echo 64 B, 16 in flight", { try await Self.raw(64, depth: 16) }),
        ("raw WebSocket echo 64 B, 1 in flight", { try await Self.raw(64, depth: 1) }),
        ("raw WebSocket echo 1 KiB, 16 in flight", { try await Self.raw(1024, depth: 16) }),
        ("Socket.IO echo 64 B, 16 in flight", { try await Self.socketIO(Self.event("echo", 64), depth: 16) }),
        ("Socket.IO ack 64 B, 16 in flight", { try await Self.socketIO(Self.event("ack", 64, id: 7), depth: 16) }),
        ("Socket.IO ack 64 B, 1 in flight", { try await Self.socketIO(Self.event("ack", 64, id: 7), depth: 1) }),
        ("Socket.IO echo 1 KiB, 16 in flight", { try await Self.socketIO(Self.event("echo", 1024), depth: 16) }),
        ("Socket.IO echo 64 B as it came, 16 in flight", { try await Self.socketIO(Self.event("pass", 64), depth: 16) }),
        ("Socket.IO ack 64 B as it came, 16 in flight", { try await Self.socketIO(Self.event("pass-ack", 64, id: 7), depth: 16) }),
        ("Socket.IO echo by polling 64 B, 16 a payload", Self.polling),
        ("Socket.IO broadcast to 100, per delivery", Self.broadcast),
        ("raw WebSocket connection, to open", { try await Self.opening(isSocketIO: false).allocations }),
        ("raw WebSocket connection, bytes kept when idle", { try await Self.opening(isSocketIO: false).bytes }),
        ("Socket.IO connection, to open", { try await Self.opening(isSocketIO: true).allocations }),
        ("Socket.IO connection, bytes kept when idle", { try await Self.opening(isSocketIO: true).bytes }),
    ]

    private static func event(_ name: String, _ size: Int, id: Int? = nil) -> String {
        "42\(id.map { "\($0)" } ?? "")[\"\(name)\",\"\(String(repeating: "x", count: size))\"]"
    }

    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Runs the server until the process ends, and returns its port.
    private static func start(
        _ run: @escaping @Sendable (@escaping @Sendable (SocketAddress) -> Void) async throws -> Void
    ) async throws -> Int {
        let (ports, found) = AsyncThrowingStream.makeStream(of: Int.self)
        // Unstructured: the task ends with the process.
        Task {
            do { try await run { found.yield($0.port ?? 0) } } catch { found.finish(throwing: error) }
        }
        for try await port in ports { return port }
        throw Client.Failure(description: "the server did not start")
    }

    private static func startRaw() async throws -> Int {
        var configuration = WebSocketServerConfiguration()
        configuration.path = nil
        let server = WebSocketServer(configuration: configuration) { connection in
            connection.onMessage { connection, message in connection.post(message) }
        }
        return try await Self.start { try await server.run(host: "127.0.0.1", port: 0, eventLoopGroup: Self.group, onListening: $0) }
    }

    private static func startSocketIO() async throws -> Int {
        let io = SocketIOServer()
        let root = io.namespace("/")
        root.onConnection { socket in
            socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", arguments: event.arguments) }
            socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
            // These events are forwarded without decoding.
            socket.on("pass") { (event: SocketIOReceivedEvent) in socket.emit("pass", payload: event.payload) }
            socket.on("pass-ack") { (event: SocketIOReceivedEvent) in event.acknowledge(payload: event.payload) }
            socket.on("bc") { (event: SocketIOReceivedEvent) in root.emit("bc", arguments: event.arguments) }
        }
        return try await Self.start { try await io.run(host: "127.0.0.1", port: 0, eventLoopGroup: Self.group, onListening: $0) }
    }

    private static func raw(_ size: Int, depth: Int) async throws -> Double {
        let client = try Client(port: try await Self.startRaw())
        try client.upgrade("/")
        return try client.allocationsPerMessage(String(repeating: "x", count: size), depth: depth)
    }

    private static func socketIO(_ text: String, depth: Int) async throws -> Double {
        let client = try Client(port: try await Self.startSocketIO())
        try client.joinSocketIO()
        return try client.allocationsPerMessage(text, depth: depth)
    }

    private static func broadcast() async throws -> Double {
        let port = try await Self.startSocketIO()
        let clients = try (0..<100).map { _ in try Client(port: port) }
        for client in clients { try client.joinSocketIO() }
        let frame = Client.frame(Self.event("bc", 64))
        try clients[0].send(frame)
        var length = 0
        for client in clients { length = try client.readFrame() }
        return try allocations(messages: 100 * clients.count) {
            for _ in 0..<100 {
                try clients[0].send(frame)
                for client in clients { try client.skip(length) }
            }
        }
    }

    /// Measures payloads of 16 events, each answered by one poll.
    private static func polling() async throws -> Double {
        let port = try await Self.startSocketIO()
        let polls = try Client(port: port)
        let posts = try Client(port: port)
        func request(_ method: String, _ query: String, _ body: String = "") -> [UInt8] {
            Array(
                "\(method) /socket.io/?EIO=4&transport=polling\(query) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
                    .utf8)
        }
        try polls.send(request("GET", ""))
        let sid = "&sid=" + (try polls.readBody(after: #""sid":""#, until: UInt8(ascii: "\"")))
        let poll = request("GET", sid)
        try posts.send(request("POST", sid, "40"))
        let ok = try posts.readResponse()
        try polls.send(poll)
        _ = try polls.readResponse()
        let post = request("POST", sid, repeatElement(Self.event("echo", 64), count: 16).joined(separator: "\u{1e}"))
        func exchange() throws -> Int {
            try posts.send(post)
            try posts.skip(ok)
            try polls.send(poll)
            return try polls.readResponse()
        }
        let answer = try exchange()
        let rounds = 300
        return try allocations(messages: 16 * rounds) {
            for _ in 0..<rounds {
                try posts.send(post)
                try posts.skip(ok)
                try polls.send(poll)
                try polls.skip(answer)
            }
        }
    }

    /// Returns the allocations of opening a connection, and the bytes that it holds while idle.
    private static func opening(isSocketIO: Bool) async throws -> (allocations: Double, bytes: Double) {
        let port = isSocketIO ? try await Self.startSocketIO() : try await Self.startRaw()
        func open() throws -> Client {
            let client = try Client(port: port)
            if isSocketIO { try client.joinSocketIO() } else { try client.upgrade("/") }
            return client
        }
        let count = 300
        var clients: [Client] = []
        clients.reserveCapacity(2 * count)
        for _ in 0..<count { clients.append(try open()) }  // so that the tables have grown
        let before = apus_allocation_count()
        let bytesBefore = apus_allocated_bytes()
        for _ in 0..<count { clients.append(try open()) }
        // Lets work complete that was deferred to later turns of the loop.
        for _ in 0..<3 { try await Self.group.next().submit {}.get() }
        let bytes = Double(apus_allocated_bytes() - bytesBefore) / Double(count)
        let allocations = Double(apus_allocation_count() - before) / Double(count)
        withExtendedLifetime(clients) {}
        let own = Double(Client.bufferBytes) + 64  // the client's buffer, rounded up by the allocator, and the client
        return (allocations.rounded(), ((bytes - own) / 16).rounded() * 16)
    }
}
