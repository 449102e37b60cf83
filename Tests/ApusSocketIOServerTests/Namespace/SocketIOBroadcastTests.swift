import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

/// Records the values passed to a completion.
final class Box<Value: Sendable>: Sendable {
    private let values = NIOLockedValueBox<[Value]>([])
    func add(_ value: Value) { self.values.withLockedValue { $0.append(value) } }
    var all: [Value] { self.values.withLockedValue { $0 } }
}

@Suite struct SocketIOBroadcastTests {
    private let clock = EmbeddedEventLoop()
    private let server: SocketIOServer
    private var namespace: SocketIONamespace { self.server.namespace("/") }

    init() {
        self.server = SocketIOServer(configuration: .init(), logger: Logger(label: "test"), clock: self.clock)
        self.server.namespace("/").onConnection { socket in
            socket.on("join") { (room: String) in socket.join(room) }
        }
    }

    private func makeClients(_ rooms: String?...) throws -> [PollingClient] {
        try rooms.map { room in
            let client = try PollingClient(self.server)
            try client.connect()
            if let room { try client.post("2[\"join\",\"\(room)\"]") }
            return client
        }
    }

    @Test func inIsToAndBothTakeArrays() throws {
        let clients = try self.makeClients("red", "blue", nil)
        self.namespace.in("red").emit("a")
        self.namespace.to(["red", "blue"]).emit("b")
        self.namespace.in(["blue"]).in("red").emit("c")
        self.namespace.except(["red", "blue"]).emit("d")
        self.namespace.to("red", "blue").except("blue").emit("e")
        #expect(try clients[0].poll() == [#"2["a"]"#, #"2["b"]"#, #"2["c"]"#, #"2["e"]"#])
        #expect(try clients[1].poll() == [#"2["b"]"#, #"2["c"]"#])
        #expect(try clients[2].poll() == [#"2["d"]"#])
    }

    @Test func aVolatileEventIsDroppedWithoutAPoll() throws {
        let clients = try self.makeClients(nil, nil)
        #expect(try clients[0].poll() == [])
        self.namespace.volatile.emit("now")
        self.namespace.emit("later")
        clients[0].pass(.zero)  // a poll is answered at the end of the turn
        #expect(try clients[0].poll().contains(#"2["now"]"#))
        #expect(try clients[1].poll() == [#"2["later"]"#])
    }

    @Test func unencodableArgumentsAreNotSent() throws {
        let clients = try self.makeClients(nil)
        self.namespace.emit("a", arguments: [.double(.nan)])
        self.namespace.emit("disconnect")
        self.namespace.emit("b")
        #expect(try clients[0].poll() == [#"2["b"]"#])
    }

    // MARK: Acks

    private func emitWithAck(_ broadcast: SocketIOBroadcast) -> Box<String> {
        let told = Box<String>()
        broadcast.emitWithAck("ask", arguments: [1]) { result in
            switch result {
            case .success(let answers):
                told.add("\(answers.map { $0.first?.intValue ?? -1 }) of \(answers.expectedCount) \(answers.isComplete)")
            case .failure(let error): told.add("\((error as? SocketIOError)?.code.description ?? "\(error)")")
            }
        }
        return told
    }

    @Test func allAcksCompleteABroadcast() throws {
        let clients = try self.makeClients("red", "red", nil)
        let told = self.emitWithAck(self.namespace.to("red"))
        #expect(try clients[0].poll() == [#"20["ask",1]"#])
        #expect(try clients[1].poll() == [#"20["ask",1]"#])
        #expect(try clients[2].poll() == [])
        try clients[1].post("30[11]")
        try clients[2].post("30[13]")  // the client was not a recipient
        #expect(told.all == [])
        try clients[0].post("30[10]")
        #expect(told.all == ["[11, 10] of 2 true"])
        try clients[0].post("30[99]")
        self.clock.advanceTime(by: .seconds(60))
        #expect(told.all.count == 1)
    }

    @Test func theDeadlineReturnsTheAnswersSoFar() throws {
        let clients = try self.makeClients(nil, nil)
        let told = self.emitWithAck(self.namespace.timeout(.seconds(3)))
        _ = try clients.map { try $0.poll() }
        try clients[0].post("30[10]")
        self.clock.advanceTime(by: .milliseconds(2_999))
        #expect(told.all == [])
        self.clock.advanceTime(by: .milliseconds(1))
        #expect(told.all == ["[10] of 2 false"])
        try clients[1].post("30[11]")
        #expect(told.all.count == 1)
        #expect(self.server.clientCount == 2)
    }

    @Test func theEndOfTheWaitHasAReason() throws {
        let clients = try self.makeClients(nil, nil)
        let told = Box<SocketIOResponsesEnd>()
        func ask() throws {
            self.namespace.timeout(.seconds(3)).emitWithAck("ask", arguments: []) { result in
                if case .success(let answers) = result { told.add(answers.end) }
            }
            _ = try clients.map { try $0.poll() }
        }
        try ask()
        for client in clients { try client.post("30[]") }
        #expect(told.all == [.answered])
        try ask()
        self.clock.advanceTime(by: .seconds(3))
        #expect(told.all == [.answered, .timedOut])
        try ask()
        try clients[0].post("32[]")
        try clients[1].post("1")
        #expect(told.all == [.answered, .timedOut, .disconnected])
    }

    @Test func clientsThatLeaveAreNotAwaited() throws {
        let clients = try self.makeClients(nil, nil)
        let told = self.emitWithAck(self.namespace.broadcast)
        _ = try clients.map { try $0.poll() }
        try clients[0].post("30[10]")
        try clients[1].post("1")
        #expect(told.all == ["[10] of 2 false"])
    }

    @Test func aBroadcastWithoutRecipientsCompletesImmediately() {
        #expect(self.emitWithAck(self.namespace.to("nobody's")).all == ["[] of 0 true"])
        #expect(self.emitWithAck(self.namespace.local).all == ["[] of 0 true"])
    }

    @Test func unencodableArgumentsFailImmediately() throws {
        _ = try self.makeClients(nil)
        let told = Box<SocketIOError.Code?>()
        self.namespace.emitWithAck("a", arguments: [.double(.infinity)]) { result in
            if case .failure(let error) = result { told.add((error as? SocketIOError)?.code) }
        }
        #expect(told.all == [.invalidUse])
    }

    @Test func tooManyWaitingCallsAreRefused() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.maximumPendingRequests = 1
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"), clock: self.clock)
        let client = try PollingClient(server)
        server.namespace("/").onConnection { _ in }
        try client.connect()
        let first = self.emitWithAck(server.namespace("/").broadcast)
        #expect(self.emitWithAck(server.namespace("/").broadcast).all == ["bufferFull"])
        self.clock.advanceTime(by: .seconds(20))
        #expect(first.all == ["[] of 1 false"])
    }

    // MARK: Many sockets

    @Test func socketsJoinLeaveAndAreDisconnectedTogether() throws {
        let clients = try self.makeClients("red", "red", nil)
        self.namespace.in("red").socketsJoin("a", "b")
        #expect(self.namespace.sockets(in: "b").count == 2)
        self.namespace.socketsLeave("a")
        #expect(self.namespace.sockets(in: "a").isEmpty)
        self.namespace.in("b").disconnectSockets()
        #expect(try clients[0].poll() == ["1"])
        #expect(try clients[1].poll() == ["1"])
        #expect(self.namespace.sockets.count == 1)
        self.namespace.disconnectSockets(close: true)
        #expect(self.server.clientCount == 2)
    }

    @Test func fetchedSocketsAreSnapshots() throws {
        self.namespace.onConnection { socket in socket.data = ["name": "Ann"] }
        _ = try self.makeClients("red")
        let told = Box<SocketIOResponses<SocketIORemoteSocket>>()
        self.namespace.in("red").fetchSockets { if case .success(let sockets) = $0 { told.add(sockets) } }
        let sockets = try #require(told.all.first)
        let socket = try #require(sockets.first)
        #expect(sockets.isComplete)
        #expect(sockets.count == 1)
        #expect(socket.id == self.namespace.sockets.first?.id)
        #expect(socket.rooms == ["red", socket.id])
        #expect(socket.data == ["name": "Ann"])
        #expect(socket.handshake.query["a"] == "b")
        socket.join("blue")
        #expect(self.namespace.sockets(in: "blue").count == 1)
        socket.leave("blue", "red")
        #expect(self.namespace.rooms == [socket.id])
        socket.disconnect()
        #expect(self.namespace.sockets.isEmpty)
    }

    // MARK: Room events

    @Test func roomEventsComeInTheirOrder() throws {
        let told = Box<SocketIORoomEvent>()
        self.namespace.onRoomEvent { told.add($0) }
        let clients = try self.makeClients("red")
        let id = try #require(self.namespace.sockets.first?.id)
        self.namespace.socketsJoin("red")
        self.namespace.socketsLeave("red")
        try clients[0].post("1")
        #expect(
            told.all == [
                .created(room: id), .joined(room: id, socket: id), .created(room: "red"), .joined(room: "red", socket: id),
                .left(room: "red", socket: id), .deleted(room: "red"), .left(room: id, socket: id), .deleted(room: id),
            ])
        #expect(self.namespace.rooms == [])
    }
}
