import ApusEventLoop
import ApusJSON
import ApusSocketIOClientCompatibility
import ApusSocketIOProtocol
import Dispatch
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusSocketIOClient

@Suite(.timeLimit(.minutes(5))) struct SocketListeningTests {
    private let seconds = Duration.seconds(60)

    /// The calls to listeners, in order.
    private final class Notes: Sendable {
        private let lines = NIOLockedValueBox<[String]>([])
        private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

        func add(_ line: String) {
            self.lines.withLockedValue { $0.append(line) }
            self.continuation.yield()
        }

        /// Waits until there are `count` lines.
        func wait(for count: Int) async -> [String] {
            for await _ in self.stream {
                let lines = self.lines.withLockedValue { $0 }
                if lines.count >= count { return lines }
            }
            return []
        }
    }

    /// Waits until earlier changes of listeners are in effect. The changes run on the event loop,
    /// which may read a packet first.
    private func settle(_ manager: SocketIOManager) async throws { try await manager.lifetime.core.eventLoop.submit {}.get() }

    /// Runs `body` with a connected socket and its peer.
    private func withConnected(
        _ change: (inout SocketIOManagerConfiguration) -> Void = { _ in },
        _ body: (SocketIOManager, SocketIOClient, ScriptedServer.Peer) async throws -> Void
    ) async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager(change)
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.open()
            let peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .connect }
            try await body(manager, socket, peer)
            await manager.close()
        }
    }

    @Test func allListenersInTheirOrder() async throws {
        try await self.withConnected { manager, socket, peer in
            let notes = Notes()
            socket.on("e") { data, _ in notes.add("named \(data.count)") }
            socket.once("e") { _, _ in notes.add("once") }
            socket.onAny { event, data in notes.add("any \(event)") }
            let first = socket.prependAny { event, _ in notes.add("first \(event)") }
            let removed = socket.on("e") { _, _ in notes.add("removed") }
            socket.off(removed)
            try await self.settle(manager)
            peer.say(#"42["e",1,2]"#)
            #expect(await notes.wait(for: 4) == ["first e", "any e", "named 2", "once"])
            socket.off(first)
            try await self.settle(manager)
            peer.say(#"42["e"]"#)
            #expect(await notes.wait(for: 6).suffix(2) == ["any e", "named 0"])
            socket.removeAllHandlers()
            socket.on("last") { _, _ in notes.add("last") }
            try await self.settle(manager)
            peer.say(#"42["e"]"#, #"42["last"]"#)
            #expect(await notes.wait(for: 7).last == "last")
        }
    }

    @Test func outgoingListenersAreCalledOnce() async throws {
        try await self.withConnected { _, socket, peer in
            let notes = Notes()
            socket.onAnyOutgoing { event, data in notes.add("\(event) \(data.count)") }
            let first = socket.prependAnyOutgoing { event, _ in notes.add("first \(event)") }
            socket.emit("a", 1)
            socket.emit("b", Double.nan)  // cannot be encoded
            socket.off(first)
            socket.emit("c", arguments: [])
            #expect(await notes.wait(for: 3) == ["first a", "a 1", "c 0"])
            #expect(await peer.next() == #"42["a",1]"#)
            #expect(await peer.next() == #"42["c"]"#)
        }
    }

    @Test func declaredEventsAndRequestsBothWays() async throws {
        struct Message: Codable, Sendable, Equatable { var text: String }
        let chat = SocketIOEvent<Message>("chat")
        let move = SocketIOEvent<Int, Int>("move")
        let add = SocketIORequest<Int, Int, Int>("add")
        try await self.withConnected { manager, socket, peer in
            let messages = socket.messages(chat, bufferingPolicy: .unbounded)
            let moves = socket.messages(move, bufferingPolicy: .unbounded)
            socket.on(add) { $0 + $1 }
            try await self.settle(manager)
            peer.say(#"42["chat",{"text":"hi"}]"#, #"42["move",3,4]"#, #"425["add",1,2]"#)
            #expect(await messages.first { _ in true } == Message(text: "hi"))
            let (x, y) = try #require(await moves.first { _ in true })
            #expect(x == 3 && y == 4)
            #expect(await peer.next() == "435[3]")
            socket.emit(chat, Message(text: "yes"))
            #expect(await peer.next() == #"42["chat",{"text":"yes"}]"#)
            let sum = Task { try await socket.emitWithAck(add, 20, 22, timeout: self.seconds) }
            #expect(await peer.next() == #"420["add",20,22]"#)
            peer.say("430[42]")
            #expect(try await sum.value == 42)
            // `off` ends the streams of the event.
            socket.off(chat)
            for await _ in messages { Issue.record("unexpected message") }
        }
    }

    @Test func aStreamFollowsItsBufferingPolicy() async throws {
        try await self.withConnected { manager, socket, peer in
            let newest = socket.messages("n", as: Int.self, bufferingPolicy: .bufferingNewest(1))
            let oldest = socket.messages("n", as: Int.self, bufferingPolicy: .bufferingOldest(1))
            socket.on("last") { (number: Int) in number }
            try await self.settle(manager)
            peer.say(#"42["n",1]"#, #"42["n",2]"#, #"42["n",3]"#, #"425["last",0]"#)
            #expect(await peer.next() == "435[0]")
            #expect(await newest.first { _ in true } == 3)
            #expect(await oldest.first { _ in true } == 1)
        }
    }

    @Test func callbacksRunInTheirContext() async throws {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "callbacks", attributes: .concurrent)
        queue.setSpecific(key: key, value: true)
        let notes = Notes()
        @Sendable func note(_ line: String) { notes.add(DispatchQueue.getSpecific(key: key) == true ? line : "\(line) elsewhere") }
        try await self.withConnected({ $0.callbacks = .queue(queue) }) { _, socket, peer in
            socket.on("e") { data, ack in
                note("e \(data[0])")
                ack.with("got", 1)
            }
            socket.onAny { event, _ in note("any \(event)") }
            socket.on(clientEvent: .ping) { _ in note("ping") }
            socket.on(clientEvent: .pong) { data, ack in note("pong \(data.count) \(ack.isExpected)") }
            socket.emitWithAck("ask", 1).timingOut(after: 60) { data in note("answer \(data)") }
            #expect(await peer.next() == #"420["ask",1]"#)
            peer.say(#"421["e",1]"#, "2", #"430["yes"]"#, #"42["e",2]"#)
            // A concurrent queue receives one call at a time.
            #expect(await notes.wait(for: 7) == ["any e", "e 1", "ping", "pong 0 false", #"answer ["yes"]"#, "any e", "e 2"])
            #expect(await peer.next() == #"431["got",1]"#)
        }
    }

    @Test func aQueueThatDoesNotKeepUpIsBounded() {
        let work = NIOLockedValueBox<[@Sendable () -> Void]>([])
        let notes = NIOLockedValueBox<[Int]>([])
        let context = SocketIOClientCallbackContext.executor { call in work.withLockedValue { $0.append(call) } }
        #expect(SocketIOClientCallbackContext.eventLoop.makeQueue(maximumCount: 1, maximumBytes: 1) == nil)
        let queue = context.makeQueue(maximumCount: 2, maximumBytes: 10)
        for number in 0..<3 {
            let isTaken = queue?.post(isBounded: true) { notes.withLockedValue { $0.append(number) } }
            #expect(isTaken == (number < 2))
        }
        let isTaken = queue?.post(isBounded: false) { notes.withLockedValue { $0.append(9) } }
        #expect(isTaken == true)
        #expect(work.withLockedValue { $0.count } == 1)  // one call at a time
        work.withLockedValue { $0 }.first?()
        #expect(notes.withLockedValue { $0 } == [0, 1, 9])
        let bytes = [6, 5, 4].map { queue?.post(isBounded: true, bytes: $0) {} }
        #expect(bytes == [true, false, true])
        #expect(work.withLockedValue { $0.count } == 2)
    }

    @Test func theLifeOfAConnectionInEvents() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager()
            let socket = manager.defaultSocket
            let notes = Notes()
            for kind in SocketIOClientLifecycleEvent.Kind.allCases {
                socket.on(clientEvent: kind) { data, _ in
                    notes.add("\(kind) \(data.first?.stringValue ?? data.first?.intValue?.description ?? "")")
                }
            }
            socket.on(clientEvent: .connect) { _ in notes.add("taken off") }
            socket.off(clientEvent: .connect)
            socket.open()
            var peer = try await server.nextPeer()
            await peer.letIn()
            // An event of the server with the name of a lifecycle event does not reach lifecycle
            // listeners.
            peer.say(#"42["ping"]"#, #"42["error","?"]"#)
            peer.hangUp()
            peer = try await server.nextPeer()
            await peer.letIn(#"{"sid":"s2"}"#)
            #expect(
                await notes.wait(for: 7) == [
                    "statusChange connecting", "statusChange connected", "statusChange reconnecting", "disconnect transport error",
                    "reconnectAttempt 1", "statusChange connected", "reconnect 1",
                ])
            peer.say("41")
            #expect(await notes.wait(for: 9).suffix(2) == ["statusChange disconnected", "disconnect io server disconnect"])
        }
    }
}
