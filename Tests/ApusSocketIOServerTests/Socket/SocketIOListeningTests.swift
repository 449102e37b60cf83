import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import Logging
import NIOConcurrencyHelpers
import Testing

private struct Refused: Error {}

/// Listeners, checks and their errors: the middleware of a socket, catch-all listeners in both
/// directions, `once` and `off`.
@Suite struct SocketIOListeningTests {
    private let seen = NIOLockedValueBox<[String]>([])

    private func note(_ text: String) { self.seen.withLockedValue { $0.append(text) } }
    private var notes: [String] { self.seen.withLockedValue { $0 } }

    private func client(
        configuration: SocketIOServerConfiguration = .init(), _ onConnection: @escaping @Sendable (SocketIOServerSocket) -> Void
    ) throws -> PollingClient {
        let server = SocketIOServer(configuration: configuration, logger: Logger(label: "test"))
        server.namespace("/").onConnection(onConnection)
        let client = try PollingClient(server)
        try client.connect()
        return client
    }

    @Test func onceIsCalledOnceAndAnswers() throws {
        let client = try self.client { socket in
            socket.once("a") { () in "first" }
            socket.on("a") { (_: SocketIOReceivedEvent) in self.note("on") }
            socket.once("a") { (_: SocketIOReceivedEvent) in self.note("once") }
        }
        try client.post(#"21["a"]"#, #"22["a"]"#)
        #expect(try client.poll() == [#"31["first"]"#])
        #expect(self.notes == ["on", "once", "on"])
    }

    @Test func offTakesOneListenerOrAllOfAnEvent() throws {
        let client = try self.client { socket in
            let first = socket.on("a") { (_: SocketIOReceivedEvent) in self.note("first") }
            socket.on("a") { (_: SocketIOReceivedEvent) in self.note("second") }
            let any = socket.onAny { event in self.note("any \(event.name)") }
            socket.on("off") { (step: Int) in
                switch step {
                case 1: socket.off(first)
                case 2: socket.off("a")
                case 3: socket.off(any)
                default: socket.offAny()
                }
            }
        }
        try client.post(#"2["a"]"#, #"2["off",1]"#, #"2["a"]"#, #"2["off",2]"#, #"2["a"]"#, #"2["off",3]"#, #"2["a"]"#)
        #expect(self.notes == ["any a", "first", "second", "any off", "any a", "second", "any off", "any a", "any off"])
    }

    /// The release of a listener may remove other listeners.
    @Test func aListenerThatGoesMayTakeAnotherWithIt() throws {
        final class Token: Sendable {
            private let ended: @Sendable () -> Void
            init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
            deinit { self.ended() }
        }
        let client = try self.client { socket in
            let other = socket.onAny { event in self.note("other \(event.name)") }
            let named = socket.on("a") { (_: SocketIOReceivedEvent) in self.note("a") }
            let first = Token { [weak socket] in socket?.off(other) }
            let second = Token { [weak socket] in socket?.off(named) }
            let holder = socket.onAny { event in withExtendedLifetime(first) { self.note("holder \(event.name)") } }
            let once = socket.on("b") { (_: SocketIOReceivedEvent) in withExtendedLifetime(second) { self.note("b") } }
            socket.on("off") { (_: SocketIOReceivedEvent) in
                socket.off(holder)
                socket.off(once)
            }
        }
        try client.post(#"2["a"]"#, #"2["off"]"#, #"2["a"]"#, #"2["b"]"#)
        #expect(self.notes == ["other a", "holder a", "a", "other off", "holder off"])
    }

    @Test func catchAllListenersComeFirstAndPrependedOnesBeforeThem() throws {
        let client = try self.client { socket in
            socket.on("a") { (_: SocketIOReceivedEvent) in self.note("a") }
            socket.onAny { event in self.note("any \(event.arguments.count)") }
            socket.prependAny { _ in self.note("prepended") }
        }
        try client.post(#"2["a",1,2]"#)
        #expect(self.notes == ["prepended", "any 2", "a"])
    }

    @Test func outgoingListenersReceiveEmitsAndBroadcastsButNoAcks() throws {
        let client = try self.client { socket in
            let second = socket.onAnyOutgoing { event, arguments in self.note("second \(event) \(arguments)") }
            socket.prependAnyOutgoing { event, _ in self.note("first \(event)") }
            socket.on("go") { (removes: Bool) in
                if removes { socket.off(second) }
                socket.emit("one", 1)
                socket.namespace.emit("all", "x")
                return "ack"
            }
            socket.on("quiet") { () in
                socket.offAnyOutgoing()
                socket.emit("one", 1)
            }
        }
        try client.post(#"21["go",false]"#)
        #expect(self.notes == ["first one", "second one [1]", "first all", #"second all ["x"]"#])
        try client.post(#"22["go",true]"#, #"2["quiet"]"#)
        #expect(self.notes.suffix(2) == ["first one", "first all"])
    }

    @Test func middlewareKeepsAnEventFromItsListeners() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.onHandlerError = { error, event, socket in
            #expect(error is Refused)
            #expect(socket.isConnected)
            self.note("refused \(event.name)")
        }
        let client = try self.client(configuration: configuration) { socket in
            socket.use { event in self.note("check \(event.name)") }
            socket.use { event in if event.name == "bad" { throw Refused() } }
            socket.use { _ in self.note("passed") }
            socket.onAny { event in self.note("any \(event.name)") }
            socket.on("good") { () in 1 }
            socket.on("bad") { () in 2 }
        }
        try client.post(#"21["good"]"#, #"22["bad"]"#)
        #expect(try client.poll() == ["31[1]"])
        #expect(self.notes == ["any good", "check good", "passed", "any bad", "check bad", "refused bad"])
    }

    @Test func handlerErrorsAndMismatchesAreReported() throws {
        var configuration = SocketIOServerConfiguration()
        configuration.onHandlerError = { error, event, _ in self.note("\(event.name) \(type(of: error))") }
        let client = try self.client(configuration: configuration) { socket in
            socket.on("throws") { () throws in throw Refused() }
            socket.on("throws") { () in "the others still run" }
            socket.on("number") { (_: Int) in }
            socket.on("unanswerable") { () in Double.nan }
        }
        try client.post(#"21["throws"]"#, #"22["number","x"]"#, #"23["unanswerable"]"#, #"24["throws"]"#)
        #expect(try client.poll() == [#"31["the others still run"]"#, #"34["the others still run"]"#])
        #expect(self.notes.prefix(2) == ["throws Refused", "number SocketIOError"])
        #expect(self.notes.contains("unanswerable SocketIOError"), "\(self.notes)")
    }
}
