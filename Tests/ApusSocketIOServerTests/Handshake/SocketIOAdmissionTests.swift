import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Refusals on the wire: `44{"message":…,"data":…}`, for version 2 `44` and the message or the
/// data. Middleware runs in a task, so these clients use an event loop that other threads may use.
@Suite("Socket.IO server: admission", .timeLimit(.minutes(5))) struct SocketIOAdmissionTests {
    private struct Unforeseen: Error {}

    private let server: SocketIOServer

    init() {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.allowsEngineIO3 = true
        configuration.connectionStateRecovery = .init(skipsMiddleware: false)
        self.server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        _ = self.server.namespace("/")
        self.server.namespace("/message").use { _ in throw SocketIOConnectionRefusal(message: "no") }
        self.server.namespace("/data").use { _ in throw SocketIOConnectionRefusal(message: "no", data: ["code": 7]) }
        self.server.namespace("/unforeseen").use { _ in throw Unforeseen() }
        let query = self.server.namespace("/query")
        query.use { socket in
            guard socket.handshake.auth["tok"] == "1" else { throw SocketIOConnectionRefusal(message: "no") }
        }
    }

    @Test(arguments: [
        ("/message", #"{"message":"no"}"#), ("/data", #"{"message":"no","data":{"code":7}}"#),
        // The text of an unexpected error is not sent.
        ("/unforeseen", #"{"message":"Connection refused"}"#),
    ])
    func aRefusalCarriesItsData(name: String, answer: String) async throws {
        let client = try await AsyncPollingClient(self.server)
        try await client.post("0\(name),")
        #expect(try await client.poll() == ["4\(name),\(answer)"])
    }

    @Test(arguments: [("/message", #""no""#), ("/data", #"{"code":7}"#), ("/unforeseen", #""Connection refused""#)])
    func version2HasRoomForOneOfThem(name: String, answer: String) async throws {
        let client = try await AsyncPollingClient(self.server, version: 3)
        #expect(try await client.poll() == ["0"])
        try await client.post("0\(name)")
        #expect(try await client.poll() == ["4\(name),\(answer)"])
    }

    @Test func version2ShowsItsAuthInTheQueryAndItsIDIsDerived() async throws {
        let client = try await AsyncPollingClient(self.server, version: 3)
        #expect(try await client.poll() == ["0"])
        try await client.post("0/query?tok=1")
        #expect(try await client.poll() == ["0/query,"])
        #expect(self.server.namespace("/query").sockets.map(\.id) == ["/query#\(client.sid)"])
    }

    @Test func middlewareCanRunAgainBeforeARecovery() async throws {
        let refuses = NIOLockedValueBox(false)
        let root = self.server.namespace("/")
        root.use { socket in
            if refuses.withLockedValue({ $0 }) { throw SocketIOConnectionRefusal(message: "no") }
            #expect(socket.isRecovered == (socket.handshake.auth["again"] == true))
        }
        let client = try await AsyncPollingClient(self.server)
        try await client.post("0")
        let grant = try #require(try await client.poll().first)
        let pid = try #require(grant.firstMatch(of: /"pid":"([^"]+)"/)?.1)
        try await client.lose()
        let back = try await AsyncPollingClient(self.server)
        root.emit("missed", 1)
        try await back.post(#"0{"again":true,"pid":"\#(pid)"}"#)
        let packets = try await back.poll()
        #expect(packets.count == 2 && packets[0].hasPrefix(#"2["missed",1,""#) && packets[1].hasPrefix(#"0{"sid":""#), "\(packets)")
        // The refusal has used up the session.
        try await back.lose()
        refuses.withLockedValue { $0 = true }
        let refused = try await AsyncPollingClient(self.server)
        try await refused.post(#"0{"pid":"\#(pid)"}"#)
        #expect(try await refused.poll() == [#"4{"message":"no"}"#])
        refuses.withLockedValue { $0 = false }
        try await refused.post(#"0{"again":false,"pid":"\#(pid)"}"#)
        let anew = try #require(try await refused.poll().last)
        #expect(!anew.contains(pid))
    }

    @Test func middlewareChoosesRooms() async throws {
        let refuses = NIOLockedValueBox(false)
        let namespace = self.server.namespace("/rooms")
        namespace.use { socket in
            socket.join("red", "blue")
            socket.leave("blue")
            #expect(socket.rooms == ["red"])
            #expect(namespace.rooms.isEmpty)
            if refuses.withLockedValue({ $0 }) { throw SocketIOConnectionRefusal(message: "no") }
        }
        let client = try await AsyncPollingClient(self.server)
        try await client.post("0/rooms,")
        #expect(try await client.poll().first?.hasPrefix("0/rooms,") == true)
        let socket = try #require(namespace.sockets(in: "red").first)
        #expect(socket.rooms == ["red", socket.id])
        try await client.post("1/rooms,")
        refuses.withLockedValue { $0 = true }
        try await client.post("0/rooms,")
        #expect(try await client.poll() == [#"4/rooms,{"message":"no"}"#])
        #expect(namespace.rooms.isEmpty)
    }

    /// The connect deadline starts again when the only pending admission is refused.
    @Test func aRefusedClientIsDisconnected() async throws {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.pingInterval = .seconds(1000)
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        server.namespace("/").use { _ in
            for await _ in gate { break }
            throw SocketIOConnectionRefusal(message: "no")
        }
        let client = try await AsyncPollingClient(server)
        try await client.post("0")
        await client.pass(.seconds(60))
        #expect(server.clientCount == 1)
        open.finish()
        #expect(try await client.poll() == [#"4{"message":"no"}"#])
        await client.pass(.seconds(44))
        #expect(server.clientCount == 1)
        await client.pass(.seconds(1))
        #expect(server.clientCount == 0)
    }

    /// A client that disconnects during the middleware check has not received its session, so it
    /// may claim it again.
    @Test func anUnusedClaimIsReturned() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let entered = AsyncStream.makeStream(of: Void.self)
        let blocks = NIOLockedValueBox(false)
        let root = self.server.namespace("/")
        root.use { _ in
            guard blocks.withLockedValue({ $0 }) else { return }
            entered.continuation.yield()
            for await _ in gate { break }
        }
        let client = try await AsyncPollingClient(self.server)
        try await client.post("0")
        let grant = try #require(try await client.poll().first)
        let pid = try #require(grant.firstMatch(of: /"pid":"([^"]+)"/)?.1)
        try await client.lose()
        blocks.withLockedValue { $0 = true }
        let vain = try await AsyncPollingClient(self.server)
        try await vain.post(#"0{"pid":"\#(pid)"}"#)
        for await _ in entered.stream { break }
        try await vain.lose()
        blocks.withLockedValue { $0 = false }
        let back = try await AsyncPollingClient(self.server)
        try await back.post(#"0{"pid":"\#(pid)"}"#)
        #expect(try await back.poll().last?.contains(pid) == true)
        open.finish()
    }
}
