import ApusConnectivity
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// The declarations of events that both sides use.
private enum Declared {
    struct Note: Codable, Sendable, Equatable { var text: String }

    static let note = SocketIOEvent<Note>("note")
    static let moved = SocketIOEvent<Int, Int>("moved")
    static let slowly = SocketIORequest<String, Note>("slowly")
    static let sum = SocketIORequest<Int, Int, Int>("sum")
    static let total = SocketIORequest<Int>("total")
}

/// The client and the server of Apus over the loopback, with every transport.
@Suite(.timeLimit(.minutes(5)))
struct OwnServerTests {
    /// The time limit of an exchange, which is sufficient while all suites run on a busy machine.
    private static let limit = Duration.seconds(100)

    /// Runs a server while `body` runs with its address.
    private func withServer(_ body: (String) async throws -> Void) async throws {
        let server = SocketIOServer()
        let kept = NIOLockedValueBox<[Int]>([])
        for name in ["/", "/custom"] {
            server.namespace(name).onConnection { socket in
                socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
                socket.on("echo") { (text: String) in socket.emit("echo", text) }
                socket.on("ask") { (number: Int) in
                    let answer = try await socket.emitWithAck("question", number, timeout: Self.limit, as: Int.self)
                    return answer + 1
                }
                socket.on("keep") { (number: Int) in kept.withLockedValue { $0.append(number) } }
                socket.on("kept") { () in kept.withLockedValue { $0 } }
                socket.on(Declared.moved) { x, y in socket.emit(Declared.moved, y, x) }
                socket.on(Declared.note) { note in server.namespace(name).emit(Declared.note, note) }
                socket.on(Declared.slowly) { text async in Declared.Note(text: text) }
                socket.on(Declared.total) { try await socket.emitWithAck(Declared.sum, 3, 4, timeout: Self.limit) }
                socket.on("leave-me") { () -> Void in socket.disconnect() }
            }
        }
        server.namespace("/private").use { socket in
            guard socket.handshake.auth["token"] == "secret" else {
                throw SocketIOConnectionRefusal(message: "unauthorized", data: ["code": "unauthorized"])
            }
        }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            try await server.run(host: "127.0.0.1", port: 0) { address in found.yield(address.port ?? 0) }
        }
        let port = try #require(await ports.first { _ in true })
        defer { running.cancel() }
        try await body("http://127.0.0.1:\(port)")
        running.cancel()
        try await running.value
    }

    @Test(arguments: Way.allCases) func textBinaryAndAcksBothWays(way: Way) async throws {
        try await self.withServer { url in
            let socket = SocketIOManager(url: url, configuration: way.configuration()).defaultSocket
            let echoes = socket.messages("echo", as: String.self, bufferingPolicy: .unbounded)
            socket.on("question") { (number: Int) in number * 10 }
            try await socket.connect(timeout: Self.limit)
            for text in ["hello", "在吗 🐦", String(repeating: "x", count: 200_000)] {
                socket.emit("echo", text)
                #expect(await echoes.first { _ in true } == text)
            }
            let values: [SocketIOValue] = [.binary([1, 2]), ["deep": [.binary(Array(repeating: 7, count: 90_000))]], nil, 1.5]
            #expect(try await socket.emitWithAck("ack", arguments: values, timeout: Self.limit) == values)
            #expect(try await socket.emitWithAck("ask", 4, timeout: Self.limit, as: Int.self) == 41)
            socket.disconnect()
        }
    }

    @Test(arguments: Way.allCases) func closingReportsWhenAllHasArrived(way: Way) async throws {
        try await self.withServer { url in
            let manager = SocketIOManager(url: url, configuration: way.configuration())
            try await manager.defaultSocket.connect(timeout: Self.limit)
            for number in 0..<500 { manager.defaultSocket.emit("keep", number) }
            await manager.close(timeout: Self.limit)
            let other = SocketIOManager(url: url, configuration: way.configuration())
            try await other.defaultSocket.connect(timeout: Self.limit)
            #expect(try await other.defaultSocket.emitWithAck("kept", timeout: Self.limit, as: [Int].self) == Array(0..<500))
            await other.close()
        }
    }

    @Test func declaredEventsTravelBothWays() async throws {
        try await self.withServer { url in
            let socket = SocketIOManager(url: url, configuration: Way.webSocket.configuration()).defaultSocket
            socket.on(Declared.sum) { $0 + $1 }
            let notes = socket.messages(Declared.note, bufferingPolicy: .unbounded)
            let moves = socket.messages(Declared.moved, bufferingPolicy: .unbounded)
            try await socket.connect(timeout: Self.limit)
            #expect(try await socket.emitWithAck(Declared.slowly, "in time", timeout: Self.limit) == Declared.Note(text: "in time"))
            #expect(try await socket.emitWithAck(Declared.total, timeout: Self.limit) == 7)
            socket.emit(Declared.moved, 3, 4)
            let (x, y) = try #require(await moves.first { _ in true })
            #expect(x == 4 && y == 3)
            socket.emit(Declared.note, Declared.Note(text: "hello"))
            #expect(await notes.first { _ in true } == Declared.Note(text: "hello"))
            socket.disconnect()
        }
    }

    @Test(arguments: Way.allCases) func namespacesAndRefusal(way: Way) async throws {
        try await self.withServer { url in
            let manager = SocketIOManager(url: url, configuration: way.configuration(auth: ["token": "secret"]))
            try await manager.defaultSocket.connect(timeout: Self.limit)
            try await manager.socket(forNamespace: "/custom").connect(timeout: Self.limit)
            try await manager.socket(forNamespace: "/private").connect(timeout: Self.limit)
            #expect(try await manager.socket(forNamespace: "/custom").emitWithAck("ack", 3, timeout: Self.limit, as: Int.self) == 3)
            let other = SocketIOManager(url: url, configuration: way.configuration(auth: ["token": "wrong"]))
            let refused = await #expect(throws: SocketIOError.self) {
                try await other.socket(forNamespace: "/private").connect(timeout: Self.limit)
            }
            #expect(refused == SocketIOError(.connectRefused, message: "unauthorized", data: ["code": "unauthorized"]))
            manager.disconnect()
        }
    }

    @Test(arguments: Way.allCases) func aLargeBurstKeepsItsOrderThroughTheUpgrade(way: Way) async throws {
        try await self.withServer { url in
            let socket = SocketIOManager(url: url, configuration: way.configuration()).defaultSocket
            let echoes = socket.messages("echo", as: String.self, bufferingPolicy: .bufferingNewest(10_000))
            try await socket.connect(timeout: Self.limit)
            for number in 0..<2000 { socket.emit("echo", String(number)) }
            var received: [String] = []
            for await text in echoes.prefix(2000) { received.append(text) }
            #expect(received == (0..<2000).map { String($0) })
            socket.disconnect()
        }
    }

    @Test(arguments: Way.allCases) func aDisconnectByTheServerEndsTheMessages(way: Way) async throws {
        try await self.withServer { url in
            let socket = SocketIOManager(url: url, configuration: way.configuration(reconnection: .socketIO)).defaultSocket
            let messages = socket.messages("nothing", as: String.self, bufferingPolicy: .unbounded)
            try await socket.connect(timeout: Self.limit)
            socket.emit("leave-me")
            for await _ in messages { Issue.record("an unexpected message") }
            #expect(socket.state == .disconnected)
        }
    }

    /// Port 1 of the loopback has no listener: every attempt is refused immediately.
    @Test(arguments: Way.allCases) func anAbsentServerIsReportedImmediately(way: Way) async throws {
        let socket = SocketIOManager(url: "http://127.0.0.1:1", configuration: way.configuration(reconnection: .none)).defaultSocket
        let error = await #expect(throws: SocketIOError.self) { try await socket.connect(timeout: Self.limit) }
        #expect(error?.code == .transport)
    }

    @Test func theTimeoutOfConnectingHasTheCause() async throws {
        let policy = ReconnectionPolicy.fixed(.milliseconds(20))
        let socket = SocketIOManager(url: "http://127.0.0.1:1", configuration: Way.upgrade.configuration(reconnection: policy))
            .defaultSocket
        let error = await #expect(throws: SocketIOError.self) { try await socket.connect(timeout: .milliseconds(300)) }
        #expect(error?.code == .connectTimeout)
        #expect((error?.cause as? SocketIOError)?.code == .transport)
    }
}
