import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

/// The operations of one socket: data, handshake, flags, acks and disconnects.
@Suite struct SocketIOSocketTests {
    private let seen = NIOLockedValueBox<[String]>([])
    private let sockets = NIOLockedValueBox<[SocketIOServerSocket]>([])

    private func note(_ text: String) { self.seen.withLockedValue { $0.append(text) } }
    private var notes: [String] { self.seen.withLockedValue { $0 } }
    private var socket: SocketIOServerSocket { get throws { try #require(self.sockets.withLockedValue { $0.last }) } }

    private func client(
        configuration: SocketIOServerConfiguration = .init(), connect packet: String = "0",
        _ onConnection: @escaping @Sendable (SocketIOServerSocket) -> Void = { _ in }
    ) throws -> PollingClient {
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        server.namespace("/").onConnection { socket in
            self.sockets.withLockedValue { $0.append(socket) }
            onConnection(socket)
        }
        let client = try PollingClient(server)
        try client.connect(packet)
        return client
    }

    // MARK: Data and handshake

    @Test func dataIsCodableAndValuesAreNot() throws {
        struct User: Codable, Equatable { var name: String, age: Int }
        _ = try self.client()
        let socket = try self.socket
        #expect(socket.data == [:])
        try socket.setData(User(name: "bob", age: 4))
        #expect(socket.data == ["name": "bob", "age": 4])
        #expect(try socket.data(as: User.self) == User(name: "bob", age: 4))
        #expect(throws: SocketIOError.self) { try socket.data(as: [Int].self) }
        socket.data = ["other": nil]
        #expect(socket.data == ["other": nil])
        socket.setValue(SocketIOError.Code.closed, for: "code")
        #expect(socket.value(for: "code") == SocketIOError.Code.closed)
        #expect(socket.value(for: "code", as: Int.self) == nil)
    }

    @Test func handshakeIsWhole() throws {
        let client = try self.client(connect: #"0{"token":"t"}"#)
        let handshake = try self.socket.handshake
        #expect(handshake.auth == ["token": "t"])
        #expect(handshake.query["a"] == "b")
        #expect(handshake.query["EIO"] == "4")
        #expect(handshake.address == "127.0.0.1")
        #expect(handshake.url.hasPrefix("/socket.io/?EIO=4&transport=polling"))
        #expect(!handshake.isSecure)
        #expect(!handshake.isCrossDomain)
        #expect(handshake.issued > 1_700_000_000_000)
        let time = /[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d{4} \d\d:\d\d:\d\d GMT\+0000 \(Coordinated Universal Time\)/
        #expect(handshake.time.wholeMatch(of: time) != nil, "\(handshake.time)")
        withExtendedLifetime(client) {}
    }

    @Test func aServerWithoutStoredRequestsHasTheNeededFacts() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.keepsRequests = false
        let client = try self.client(configuration: configuration, connect: #"0{"token":"t"}"#)
        let handshake = try self.socket.handshake
        #expect(handshake.query.isEmpty && handshake.headers.isEmpty)
        #expect(handshake.url == "/socket.io/")
        #expect(handshake.auth == ["token": "t"] && handshake.address == "127.0.0.1")
        withExtendedLifetime(client) {}
    }

    // MARK: Draining

    @Test func theQueueIsDrainedWhenThePollsHaveTakenAllPackets() throws {
        let client = try self.client()
        let socket = try self.socket
        socket.whenDrained { self.note("at once") }
        client.pass(.zero)
        #expect(self.notes == ["at once"])
        let large = String(repeating: "x", count: 40_000)
        for _ in 1...2 { socket.emit("large", large) }
        for name in ["first", "second"] { socket.whenDrained { self.note(name) } }
        client.pass(.zero)
        #expect(self.notes == ["at once"])
        #expect(try client.poll().count == 2)
        #expect(self.notes == ["at once", "first", "second"])
        // A held poll takes all packets of a turn, so the queue is empty.
        #expect(try client.poll() == [])
        for _ in 1...4 { socket.emit("large", large) }
        socket.whenDrained { self.note("third") }
        client.pass(.zero)
        #expect(try client.poll().count == 4)
        #expect(self.notes.last == "third")
        // A closed socket does not drain.
        for _ in 1...2 { socket.emit("large", large) }
        socket.whenDrained { self.note("never") }
        client.pass(.zero)
        try client.lose()
        socket.whenDrained { self.note("never") }
        client.pass(.zero)
        #expect(self.notes.last == "third")
    }

    // MARK: Flags

    @Test func aVolatileEventIsDroppedWhileNoPollIsHeld() throws {
        let client = try self.client { socket in
            socket.on("go") { () in
                socket.volatile.emit("lost", 1)
                socket.compress(false).emit("kept", 2)
            }
        }
        try client.post(#"2["go"]"#)
        #expect(try client.poll() == [#"2["kept",2]"#])
        #expect(try client.poll() == [])
        // A poll is held now.
        try self.socket.volatile.compress(false).emit("in time", 3)
        client.pass(.zero)
        #expect(try client.poll() == [#"2["in time",3]"#])
    }

    // MARK: Acks

    @Test func aCallbackGetsTheAckOnce() throws {
        let client = try self.client()
        try self.socket.emitWithAck("question", arguments: ["x"]) { result in self.note("\((try? result.get()) ?? [])") }
        #expect(try client.poll() == [#"20["question","x"]"#])
        try client.post(#"30[42,"y"]"#, "30[43]")
        #expect(self.notes == [#"[42, "y"]"#])
    }

    @Test func anAckThatDoesNotComeFailsByItsTime() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.ackTimeout = .seconds(7)
        let client = try self.client(configuration: configuration)
        let note: @Sendable (Result<[SocketIOValue], any Error>) -> Void = { result in
            guard case .failure(let error as SocketIOError) = result else { return self.note("answered") }
            self.note("\(error.code)")
        }
        try self.socket.emitWithAck("by default", arguments: [], completion: note)
        try self.socket.emitWithAck("sooner", arguments: [], timeout: .seconds(2), completion: note)
        client.pass(.milliseconds(1_999))
        #expect(self.notes == [])
        client.pass(.milliseconds(1))
        #expect(self.notes == ["ackTimeout"])
        client.pass(.milliseconds(4_999))
        #expect(self.notes.count == 1)
        client.pass(.milliseconds(1))
        #expect(self.notes == ["ackTimeout", "ackTimeout"])
        // The late ack has no effect.
        #expect(try client.post("30[1]") == 200)
        #expect(self.notes.count == 2)
    }

    /// With Node, an ack callback is not called after a disconnect. Here the wait fails
    /// immediately.
    @Test func anAckFailsAtOnceWhenItsClientLeaves() throws {
        let client = try self.client()
        let note: @Sendable (Result<[SocketIOValue], any Error>) -> Void = { result in
            guard case .failure(let error as SocketIOError) = result else { return self.note("answered") }
            self.note("\(error.code)")
        }
        let socket = try self.socket
        socket.emitWithAck("question", arguments: [], completion: note)
        try client.post("1")
        #expect(self.notes == ["disconnected"])
        socket.emitWithAck("question", arguments: [], completion: note)
        #expect(self.notes == ["disconnected", "disconnected"])
    }

    @Test func theNumberOfAwaitedAcksIsBounded() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.maximumPendingAcks = 2
        let client = try self.client(configuration: configuration)
        for _ in 0..<3 {
            try self.socket.emitWithAck("question", arguments: []) { result in
                guard case .failure(let error as SocketIOError) = result else { return self.note("answered") }
                self.note("\(error.code)")
            }
        }
        #expect(self.notes == ["bufferFull"])
        try client.post("30[]", "31[]")
        #expect(self.notes == ["bufferFull", "answered", "answered"])
    }

    @Test func whatCannotBeSentFailsTheWait() throws {
        let client = try self.client()
        try self.socket.emitWithAck("disconnect", arguments: []) { result in
            guard case .failure(let error as SocketIOError) = result else { return self.note("answered") }
            self.note("\(error.code)")
        }
        #expect(self.notes == ["invalidUse"])
        withExtendedLifetime(client) {}
    }

    // MARK: Disconnects

    /// Both handlers receive the reason.
    @Test func disconnectingStillSeesTheRooms() throws {
        let client = try self.client { socket in
            socket.join("red")
            socket.onDisconnecting { reason in self.note("disconnecting \(reason) \(socket.rooms.contains("red")) \(socket.isConnected)") }
            socket.onDisconnect { reason in self.note("disconnect \(reason) \(socket.rooms.count) \(socket.isConnected)") }
        }
        try client.post("1")
        #expect(
            self.notes == ["disconnecting client namespace disconnect true true", "disconnect client namespace disconnect 0 false"])
        // A handler that is added later is called immediately.
        try self.socket.onDisconnect { reason in self.note("late \(reason)") }
        #expect(self.notes.last == "late client namespace disconnect")
    }

    @Test func theReasonHasADetailThatDoesNotCount() throws {
        let client = try self.client { socket in
            socket.onDisconnect { reason in
                #expect(reason == .parseError)
                self.note(reason.detail ?? "none")
            }
        }
        try client.post("2{}")
        #expect(self.notes.count == 1)
        #expect(self.notes.first?.contains("invalidPayload") == true, "\(self.notes)")
    }

    @Test func aHandlerAddedAfterTheEndIsNotKept() throws {
        weak var socket: SocketIOServerSocket?
        let client = try self.client()
        socket = try self.socket
        try client.post("1")
        try self.socket.on("a") { [socket = try self.socket] (_: SocketIOReceivedEvent) in socket.emit("b") }
        self.sockets.withLockedValue { $0 = [] }
        #expect(socket == nil)
    }
}
