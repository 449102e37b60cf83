import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@Suite("Socket.IO server: observers", .timeLimit(.minutes(5))) struct SocketIOServerObserverTests {
    private struct Failure: Error {}

    /// Records its calls, each with the name of the observer.
    private struct Recorder: SocketIOServerObserver {
        let name: String
        let seen: NIOLockedValueBox<[String]>

        func note(_ text: String) { self.seen.withLockedValue { $0.append("\(self.name) \(text)") } }

        func connected(_ socket: SocketIOServerSocket) { self.note("connected \(socket.namespace.name)") }
        func disconnected(_ socket: SocketIOServerSocket, reason: SocketIOServerDisconnectReason) { self.note("disconnected: \(reason)") }
        func received(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket) { self.note("received \(event.name)") }
        func sent(_ event: String, to socket: SocketIOServerSocket) { self.note("sent \(event)") }
        func ackEnded(_ event: String, on socket: SocketIOServerSocket, _ end: SocketIOAckEnd, after time: Duration) {
            self.note("\(end.rawValue) \(event) after \(time)")
        }
        func failed(_ event: SocketIOReceivedEvent, _ error: any Error, on socket: SocketIOServerSocket) {
            self.note("failed \(event.name): \(type(of: error))")
        }

        func handle(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: () throws -> Void) throws {
            self.note("begin \(event.name)")
            defer { self.note("end \(event.name)") }
            try handler()
        }

        func handle(
            _ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: @Sendable () async throws -> Void
        ) async throws {
            self.note("begin \(event.name)")
            defer { self.note("end \(event.name)") }
            try await handler()
        }
    }

    /// An observer without methods of its own.
    private struct Silent: SocketIOServerObserver {}

    private let seen = NIOLockedValueBox<[String]>([])

    private func take() -> [String] {
        self.seen.withLockedValue { seen in
            defer { seen = [] }
            return seen
        }
    }

    private func server(_ observers: [any SocketIOServerObserver], clock: EmbeddedEventLoop? = nil) -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        configuration.observers = observers
        configuration.onHandlerError = { [seen] _, event, _ in seen.withLockedValue { $0.append("hook \(event.name)") } }
        return SocketIOServer(configuration: configuration, logger: Logger(label: "test"), clock: clock)
    }

    @Test func observersFollowASocketAndItsEvents() throws {
        let server = self.server([Recorder(name: "a", seen: self.seen)])
        server.namespace("/").onConnection { [seen] socket in
            seen.withLockedValue { $0.append("onConnection") }
            socket.on("ok") { (number: Int) in number + 1 }
            socket.on("bad") { () throws in throw Failure() }
            socket.onDisconnect { _ in seen.withLockedValue { $0.append("onDisconnect") } }
        }
        let client = try PollingClient(server)
        try client.connect()
        #expect(self.take() == ["a connected /", "onConnection"])
        try client.post(#"27["ok",1]"#)
        #expect(try client.poll() == ["37[2]"])
        #expect(self.take() == ["a received ok", "a begin ok", "a end ok"], "an ack is not an event")
        try client.post(#"2["bad"]"#)
        #expect(self.take() == ["a received bad", "a begin bad", "a end bad", "a failed bad: Failure", "hook bad"])
        try client.post(#"2["unknown"]"#)
        #expect(self.take() == ["a received unknown"])
        try client.post(#"2["ok","no number"]"#)
        #expect(self.take().last == "hook ok")
        try client.lose()
        #expect(self.take() == ["a disconnected: transport close", "onDisconnect"])
    }

    @Test func eachRecipientOfAnEventIsReported() throws {
        let server = self.server([Recorder(name: "a", seen: self.seen)])
        let namespace = server.namespace("/")
        let (first, second) = (try PollingClient(server), try PollingClient(server))
        try first.connect()
        try second.connect()
        _ = self.take()
        namespace.emit("all", 1)
        #expect(try first.poll() == [#"2["all",1]"#])
        #expect(try second.poll() == [#"2["all",1]"#])
        #expect(self.take() == ["a sent all", "a sent all"])
        let socket = try #require(namespace.sockets.first)
        socket.emit("one")
        socket.emitWithAck("question", arguments: [], timeout: .seconds(2)) { _ in }
        for client in [first, second] { client.pass(.milliseconds(1)) }
        #expect(self.take() == ["a sent one", "a sent question"])
        for client in [first, second] { client.pass(.seconds(2)) }
        #expect(self.take() == ["a timed out question after 2.0 seconds"])
    }

    /// The client acknowledges with the id that the event has, `2ID["question"]`.
    private func acknowledge(_ client: PollingClient) throws {
        for packet in try client.poll() {
            guard let id = packet.firstMatch(of: /^2(\d+)\["question"/) else { continue }
            try client.post("3\(id.1)[7]")
        }
    }

    @Test func anAckIsReportedWithItsTime() throws {
        let server = self.server([Recorder(name: "a", seen: self.seen)])
        let namespace = server.namespace("/")
        let client = try PollingClient(server)
        try client.connect()
        let socket = try #require(namespace.sockets.first)
        _ = self.take()
        socket.emitWithAck("question", arguments: [], timeout: .seconds(5)) { [seen] result in
            seen.withLockedValue { $0.append("result \((try? result.get()) ?? [])") }
        }
        client.pass(.seconds(2))
        try self.acknowledge(client)
        #expect(self.take() == ["a sent question", "a answered question after 2.0 seconds", "result [7]"])
        client.pass(.seconds(5))
        #expect(self.take().isEmpty)
    }

    /// Of a broadcast to three clients, one answers, one leaves and one remains silent.
    @Test func theEndOfEachAckOfABroadcastIsReported() throws {
        let clock = EmbeddedEventLoop()
        let server = self.server([Recorder(name: "a", seen: self.seen)], clock: clock)
        let namespace = server.namespace("/")
        let clients = try (0..<3).map { _ in try PollingClient(server) }
        for client in clients { try client.connect() }
        namespace.timeout(.seconds(3)).emitWithAck("question", arguments: []) { [seen] result in
            seen.withLockedValue { $0.append("result of \((try? result.get())?.count ?? -1)") }
        }
        for client in clients { client.pass(.seconds(1)) }
        _ = self.take()
        try self.acknowledge(clients[0])
        #expect(self.take() == ["a answered question after 1.0 seconds"])
        try clients[1].post("1")
        #expect(self.take() == ["a disconnected question after 1.0 seconds", "a disconnected: client namespace disconnect"])
        clients[2].pass(.seconds(2))
        clock.advanceTime(by: .seconds(3))
        clients[2].pass(.zero)
        #expect(self.take().sorted() == ["a timed out question after 3.0 seconds", "result of 1"])
        try self.acknowledge(clients[2])
        #expect(self.take().isEmpty, "the ack is late")
    }

    @Test func aCancelledWaitForAnAckIsReported() async throws {
        let server = self.server([Recorder(name: "a", seen: self.seen)])
        let namespace = server.namespace("/")
        let client = try await AsyncPollingClient(server)
        try await client.connect()
        let socket = try #require(namespace.sockets.first)
        for wait: @Sendable () async throws -> Void in [
            { _ = try await socket.emitWithAck("question", arguments: []) },
            { _ = try await namespace.emitWithAck("question", arguments: []) },
        ] {
            let task = Task { try await wait() }
            #expect(try await client.poll().count == 1)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            while !self.seen.withLockedValue({ $0.contains { $0.hasPrefix("a cancelled question after ") } }) { await Task.yield() }
            _ = self.take()
        }
    }

    /// An event that cannot be encoded is not sent, so it is not reported as sent.
    @Test func anEventThatCannotBeEncodedIsNotReported() throws {
        let server = self.server([Recorder(name: "a", seen: self.seen)])
        let namespace = server.namespace("/")
        let client = try PollingClient(server)
        try client.connect()
        let socket = try #require(namespace.sockets.first)
        socket.onAnyOutgoing { [seen] event, _ in seen.withLockedValue { $0.append("outgoing \(event)") } }
        _ = self.take()
        socket.emit("number", arguments: [.double(.nan)])
        socket.emitWithAck("number", arguments: [.double(.nan)], timeout: .seconds(1)) { _ in }
        client.pass(.milliseconds(1))
        #expect(self.take().isEmpty)
        socket.emit("number", 1.5)
        client.pass(.milliseconds(1))
        #expect(self.take() == ["a sent number", "outgoing number"])
    }

    @Test func theFirstObserverIsOutermost() async throws {
        let server = self.server([Recorder(name: "a", seen: self.seen), Silent(), Recorder(name: "b", seen: self.seen)])
        server.namespace("/").onConnection { socket in
            socket.on("now") { () in }
            socket.on("later") { () async throws in throw Failure() }
        }
        let client = try await AsyncPollingClient(server)
        try await client.connect()
        _ = self.take()
        try await client.post(#"20["now"]"#)
        #expect(try await client.poll() == ["30[]"])
        #expect(self.take() == ["a received now", "b received now", "a begin now", "b begin now", "b end now", "a end now"])
        try await client.post(#"2["later"]"#)
        while !self.seen.withLockedValue({ $0.contains("hook later") }) { await Task.yield() }
        #expect(
            self.take() == [
                "a received later", "b received later", "a begin later", "b begin later", "b end later", "a end later",
                "a failed later: Failure", "b failed later: Failure", "hook later",
            ])
    }
}
