import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Dispatch
import Logging
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// Connection state recovery of clients that return before the server detects the loss of the old
/// connection, which broke between two polls.
@Suite("Socket.IO server: a return before the loss is known", .timeLimit(.minutes(5))) struct SocketIOReturnTests {
    /// A server with recovery, and the log of its sockets' events.
    private final class World: Sendable {
        let server: SocketIOServer
        let events = NIOLockedValueBox<[String]>([])
        let sockets = NIOLockedValueBox<[SocketIOServerSocket]>([])

        init(_ change: (inout SocketIOServerConfiguration) -> Void = { _ in }) {
            var configuration = SocketIOServerConfiguration()
            configuration.connectionStateRecovery = .init()
            change(&configuration)
            self.server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
            self.server.namespace("/").onConnection { [events, sockets] socket in
                sockets.withLockedValue { $0.append(socket) }
                events.withLockedValue { $0.append(socket.isRecovered ? "recovered" : "new") }
                socket.onDisconnect { reason in events.withLockedValue { $0.append("\(reason)") } }
            }
        }

        var socket: SocketIOServerSocket { get throws { try #require(self.sockets.withLockedValue { $0.last }) } }
        var log: [String] { self.events.withLockedValue { $0 } }
    }

    private struct Grant {
        var sid: String
        var pid: String

        init(_ packet: String?) throws {
            let packet = try #require(packet)
            self.sid = String(try #require(packet.firstMatch(of: /"sid":"([^"]+)"/)?.1))
            self.pid = String(try #require(packet.firstMatch(of: /"pid":"([^"]+)"/)?.1))
        }
    }

    private func connect(_ packet: String = "0", to world: World) throws -> (client: PollingClient, missed: [String], grant: Grant) {
        let client = try PollingClient(world.server)
        try client.post(packet)
        var packets = try client.poll(keepingIDs: true)
        let grant = try Grant(packets.popLast())
        return (client, packets.map { String($0.prefix { $0 != "," }) }, grant)
    }

    @Test func aClientLostJustAfterItsConnectRecovers() throws {
        let world = World()
        let (_, _, grant) = try self.connect(to: world)
        let old = try world.socket
        old.join("red")
        old.data = ["name": "bob"]
        // Queued for a session that is no longer polled.
        world.server.namespace("/").emit("all", 1)
        world.server.namespace("/").to("red").emit("red", 2)
        world.server.namespace("/").to("blue").emit("blue", 3)
        old.emit("one", 4)
        let back = try self.connect(#"0{"pid":"\#(grant.pid)"}"#, to: world)
        #expect(back.grant.sid == grant.sid && back.grant.pid == grant.pid)
        #expect(back.missed == [#"2["all""#, #"2["red""#, #"2["one""#])
        #expect(world.log == ["new", "transport error", "recovered"])
        let socket = try world.socket
        #expect(socket.rooms == ["red", socket.id] && socket.data == ["name": "bob"] && !old.isConnected)
        #expect(world.server.clientCount == 1)
        world.server.namespace("/").emit("next", 5)
        #expect(try back.client.poll().map { $0.prefix { $0 != "," } } == [#"2["next""#])
    }

    /// The answer with the private id is lost: the client is new, and the ping timeout removes its
    /// other socket.
    @Test func aClientWithoutItsPrivateIDIsNew() throws {
        let world = World()
        let lost = try PollingClient(world.server)
        try lost.post("0")
        let (client, _, _) = try self.connect(to: world)
        #expect(world.log == ["new", "new"])
        lost.pass(.seconds(46))
        #expect(world.log == ["new", "new", "ping timeout"])
        #expect(try client.poll() == [])
    }

    /// Events sent with the answer to a return count as undelivered until the client confirms their
    /// offset.
    @Test(arguments: [true, false]) func theAnswerToAReturnMayBeLostAsWell(isKnown: Bool) throws {
        let world = World()
        let first = try self.connect(to: world)
        world.server.namespace("/").emit("missed", 1)
        let auth = #"0{"pid":"\#(first.grant.pid)"}"#
        for _ in 0..<3 {
            let lost = try PollingClient(world.server)
            try lost.post(auth)
            if isKnown { try lost.lose() }
        }
        world.server.namespace("/").emit("missed", 2)
        let back = try self.connect(auth, to: world)
        #expect(back.missed == [#"2["missed""#, #"2["missed""#])
        #expect(back.grant.sid == first.grant.sid)
    }

    /// A socket in another namespace of the old connection can return, too.
    @Test func allSocketsOfTheConnectionAreLost() throws {
        let world = World()
        world.server.namespace("/other").onConnection { socket in socket.on("never") { () in } }
        let (client, _, grant) = try self.connect(to: world)
        try client.post("0/other,")
        let other = try Grant(try client.poll(keepingIDs: true).last)
        let back = try self.connect(#"0{"pid":"\#(grant.pid)"}"#, to: world)
        #expect(world.server.namespace("/other").sockets.isEmpty)
        try back.client.post(#"0/other,{"pid":"\#(other.pid)"}"#)
        #expect(try Grant(try back.client.poll(keepingIDs: true).last).sid == other.sid)
        #expect(world.server.clientCount == 1)
    }

    @Test func theIdIsOfItsNamespaceOnly() throws {
        let world = World()
        _ = world.server.namespace("/other")
        let (client, _, grant) = try self.connect(to: world)
        let other = try PollingClient(world.server)
        try other.post(#"0/other,{"pid":"\#(grant.pid)"}"#)
        #expect(try Grant(try other.poll(keepingIDs: true).last).sid != grant.sid)
        #expect(try client.poll() == [])
        #expect(world.log == ["new"])
    }

    /// A connection that sends the id of its own socket has sent a second CONNECT for its
    /// namespace.
    @Test func aSocketDoesNotTakeItsOwnPlace() throws {
        let world = World()
        let (client, _, grant) = try self.connect(to: world)
        try client.post(#"0{"pid":"\#(grant.pid)"}"#)
        #expect(world.log == ["new", "parse error"])
    }

    // MARK: Middleware

    @Test func aReturningClientMayBeLostAgain() async throws {
        let world = World { $0.connectionStateRecovery?.skipsMiddleware = false }
        let first = try await AsyncPollingClient(world.server)
        try await first.post("0")
        let grant = try Grant(try await first.poll().last)
        let waiting = NIOLockedValueBox<[CheckedContinuation<Void, Never>]>([])
        let (questions, asked) = AsyncStream.makeStream(of: Void.self)
        world.server.namespace("/").use { _ in
            await withCheckedContinuation { continuation in
                waiting.withLockedValue { $0.append(continuation) }
                asked.yield()
            }
        }
        let auth = #"0{"pid":"\#(grant.pid)"}"#
        let second = try await AsyncPollingClient(world.server)
        try await second.post(auth)
        _ = await questions.first { _ in true }
        let third = try await AsyncPollingClient(world.server)
        try await third.post(auth)
        _ = await questions.first { _ in true }
        for continuation in waiting.withLockedValue({ $0 }) { continuation.resume() }
        #expect(try Grant(try await third.poll().last).sid == grant.sid)
        #expect(try await second.poll() == ["HTTP 400"])
        #expect(world.log == ["new", "transport error", "recovered"])
        #expect(world.server.namespace("/").sockets.count == 1)
    }

    @Test func aRefusedSocketIsNeitherConnectedNorStored() async throws {
        let world = World { $0.connectionStateRecovery?.skipsMiddleware = false }
        let first = try await AsyncPollingClient(world.server)
        try await first.post("0")
        let auth = #"0{"pid":"\#(try Grant(try await first.poll().last).pid)"}"#
        let isRefused = NIOLockedValueBox(true)
        world.server.namespace("/").use { _ in
            if isRefused.withLockedValue({ $0 }) { throw SocketIOConnectionRefusal(message: "no") }
        }
        let second = try await AsyncPollingClient(world.server)
        try await second.post(auth)
        #expect(try await second.poll() == [#"4{"message":"no"}"#])
        #expect(world.server.namespace("/").sockets.isEmpty)
        isRefused.withLockedValue { $0 = false }
        try await second.post(auth)
        _ = try await second.poll()
        #expect(world.log == ["new", "transport error", "new"])
    }

    // MARK: Event loops

    /// Calls `body` while the event loop of the old socket is blocked.
    private func withBusyLoop(
        _ world: World, _ body: (_ auth: String, _ sid: String, _ release: () -> Void) async throws -> Void
    ) async throws {
        let first = try await AsyncPollingClient(world.server)
        try await first.post("0")
        let grant = try Grant(try await first.poll().last)
        let busy = DispatchSemaphore(value: 0)
        let isReleased = NIOLockedValueBox(false)
        first.execute { busy.wait() }
        func release() {
            let isFirst = isReleased.withLockedValue { released in
                defer { released = true }
                return !released
            }
            if isFirst { busy.signal() }
        }
        defer { release() }
        try await body(#"0{"pid":"\#(grant.pid)"}"#, grant.sid, release)
    }

    @Test func oneOfTwoConcurrentReturnsRecovers() async throws {
        let world = World()
        try await self.withBusyLoop(world) { auth, sid, release in
            let clients = [try await AsyncPollingClient(world.server), try await AsyncPollingClient(world.server)]
            for client in clients { try await client.post(auth) }
            release()
            let sids = [
                try Grant(try await clients[0].poll().last).sid, try Grant(try await clients[1].poll().last).sid,
            ]
            #expect(sids.filter { $0 == sid }.count == 1 && Set(sids).count == 2, "\(sids) \(sid)")
            #expect(Set(world.server.namespace("/").sockets.map(\.id)) == Set(sids))
            #expect(world.log.sorted() == ["new", "new", "recovered", "transport error"])
        }
    }

    @Test func theWaitHasABound() async throws {
        let world = World()
        try await self.withBusyLoop(world) { auth, sid, release in
            let client = try await AsyncPollingClient(world.server)
            try await client.post(auth)
            await client.pass(.seconds(5))
            #expect(try Grant(try await client.poll().last).sid != sid)
            #expect(try world.socket.recovery == .incomplete)
        }
    }

    @Test func aClientThatLeavesMeanwhileIsNotAdmitted() async throws {
        let world = World()
        try await self.withBusyLoop(world) { auth, sid, release in
            let lost = try await AsyncPollingClient(world.server)
            try await lost.post(auth)
            try await lost.lose()
            let left = try await AsyncPollingClient(world.server)
            try await left.post(auth)
            try await left.post("1")
            release()
            // The session remains available for another attempt.
            let client = try await AsyncPollingClient(world.server)
            try await client.post(auth)
            #expect(try Grant(try await client.poll().last).sid == sid)
            #expect(world.log == ["new", "transport error", "recovered"])
        }
    }
}
