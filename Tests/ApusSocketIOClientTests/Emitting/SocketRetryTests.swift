import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Testing

/// The bytes sent for events with retries.
@Suite(.timeLimit(.minutes(5))) struct SocketRetryTests {
    private let seconds = Duration.seconds(60)

    @Test func oneAtATimeAndAgainUntilTheAckComes() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager {
                $0.retries = 2
                $0.ackTimeout = .milliseconds(30)
            }
            let socket = manager.defaultSocket
            socket.emit("a", 1)
            socket.emit("b")
            socket.open()
            let peer = try await server.nextPeer()
            await peer.letIn()
            #expect(await peer.next() == #"420["a",1]"#)
            #expect(await peer.next() == #"420["a",1]"#)
            peer.say("430[]")
            // The third try may precede the ack. In both cases `b` follows after the ack.
            var next = await peer.next()
            if next == #"420["a",1]"# { next = await peer.next() }
            #expect(next == #"421["b"]"#)
            peer.say("431[]")
            await manager.close()
        }
    }

    @Test func anOutstandingEventIsSentAgainOverTheNextConnection() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.retries = 3 }
            let socket = manager.defaultSocket
            socket.open()
            var peer = try await server.nextPeer()
            await peer.letIn()
            let answer = Task { try await socket.emitWithAck("save", "text", timeout: self.seconds, as: Int.self) }
            #expect(await peer.next() == #"420["save","text"]"#)
            peer.hangUp()
            peer = try await server.nextPeer()
            await peer.letIn(#"{"sid":"s2"}"#)
            #expect(await peer.next() == #"420["save","text"]"#)
            peer.say("430[7]")
            #expect(try await answer.value == 7)
            await manager.close()
        }
    }

    @Test func theCallerReceivesAnErrorAfterTheLastTry() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager {
                $0.retries = 1
                $0.ackTimeout = .milliseconds(20)
            }
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.emit("unheard")
            let waiting = Task { try await socket.emitWithAck("a", arguments: []) }
            socket.open()
            let peer = try await server.nextPeer()
            await peer.letIn()
            let error = await #expect(throws: SocketIOError.self) { try await waiting.value }
            #expect(error?.code == .ackTimeout)
            var heard: [String?] = []
            for _ in 0..<4 { heard.append(await peer.next()) }
            #expect(heard == [#"420["unheard"]"#, #"420["unheard"]"#, #"421["a"]"#, #"421["a"]"#])
            // The error of the event without an ack callback is reported, too.
            for await case .error(let error) in lifecycle {
                #expect(error.code == .ackTimeout)
                break
            }
            await manager.close()
        }
    }

    @Test func volatileEventsAreNotRepeated() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.retries = 5 }
            let socket = manager.defaultSocket
            socket.volatile.emit("lost")
            socket.open()
            let peer = try await server.nextPeer()
            let connected = socket.lifecycle(bufferingPolicy: .unbounded)
            await peer.letIn()
            _ = await connected.first { $0.kind == .connect }
            socket.volatile.emit("position", 1)
            #expect(await peer.next() == #"42["position",1]"#)
            await manager.close()
        }
    }
}
