import ApusConnectivity
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOClientCompatibility
import ApusSocketIOProtocol
import Testing

@Suite(.timeLimit(.minutes(5))) struct SocketEmittingTests {
    private let seconds = Duration.seconds(60)

    @Test func volatileEventsAreSentAtOnceOrDropped() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager()
            let socket = manager.defaultSocket
            socket.volatile.emit("lost", 1)
            socket.emit("kept")
            let error = await #expect(throws: SocketIOError.self) { try await socket.volatile.emitWithAck("ask", arguments: []) }
            #expect(error?.code == .notConnected)
            socket.open()
            let peer = try await server.nextPeer()
            await peer.letIn()
            #expect(await peer.next() == #"42["kept"]"#)
            socket.volatile.compress(false).emit("now")
            #expect(await peer.next() == #"42["now"]"#)
            await manager.close()
        }
    }

    @Test func theOldestEventsAreDroppedOnOverflow() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager {
                $0.maximumBufferedEvents = 2
                $0.bufferOverflow = .dropOldest
            }
            let socket = manager.defaultSocket
            let (emitted, continuation) = AsyncStream.makeStream(of: String.self)
            socket.onAnyOutgoing { event, _ in continuation.yield(event) }
            let oldest = Task { try await socket.emitWithAck("oldest", arguments: [], timeout: self.seconds) }
            _ = await emitted.first { _ in true }
            for number in 1...2 { socket.emit("position", number) }
            let error = await #expect(throws: SocketIOError.self) { try await oldest.value }
            #expect(error?.code == .bufferFull)
            socket.open()
            let peer = try await server.nextPeer()
            await peer.letIn()
            #expect(await peer.next() == #"42["position",1]"#)
            #expect(await peer.next() == #"42["position",2]"#)
            await manager.close()
        }
    }

    @Test func callbacksReceiveTheAnswerOrNoAck() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.ackTimeout = .milliseconds(10) }
            let socket = manager.defaultSocket
            func answer(_ ask: (@escaping @Sendable ([SocketIOValue]) -> Void) -> Void) async -> [SocketIOValue]? {
                let (answers, continuation) = AsyncStream.makeStream(of: [SocketIOValue].self)
                ask { continuation.yield($0) }
                return await answers.first { _ in true }
            }
            #expect(await answer { socket.emitWithAck("unheard").timingOut(after: 0.01, callback: $0) } == [SocketAckStatus.noAck])
            #expect(await answer { socket.emitWithAck("unheard").timingOut(after: 0, callback: $0) } == ["NO ACK"])
            #expect(await answer { socket.emitWithAck("bad", Double.infinity).timingOut(after: 5, callback: $0) } == ["NO ACK"])
            let (results, continuation) = AsyncStream.makeStream(of: Result<[SocketIOValue], SocketIOError>.self)
            socket.emitWithAck("unheard", timeout: .milliseconds(1)) { continuation.yield($0) }
            guard case .failure(let error) = await results.first(where: { _ in true }) else {
                Issue.record("expected a timeout")
                return
            }
            #expect(error.code == .ackTimeout)
            socket.emitWithAck("bad", Double.infinity) { continuation.yield($0) }
            guard case .failure(let invalid) = await results.first(where: { _ in true }) else {
                Issue.record("expected an invalid argument")
                return
            }
            #expect(invalid.code == .invalidUse)
            let error2 = await #expect(throws: SocketIOError.self) {
                try await socket.timeout(.milliseconds(1)).emitWithAck("unheard", arguments: [])
            }
            #expect(error2?.message.contains("0.001") == true)
        }
    }

    @Test func closeWaitsUntilAllEventsAreSent() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager()
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.open()
            let peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .connect }
            for number in 0..<100 { socket.emit("number", number) }
            await manager.close(timeout: self.seconds)
            #expect(socket.state == .disconnected)
            var heard: [String] = []
            for await text in peer.heard { heard.append(text) }
            #expect(heard == (0..<100).map { "42[\"number\",\($0)]" } + ["41", "1"])
            // A second close returns at once.
            await manager.close()
        }
    }

    @Test func reconnectCancelsTheWait() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.reconnection = .fixed(.seconds(3600)) }
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            manager.reconnect()  // all sockets are disconnected
            socket.open()
            var peer = try await server.nextPeer()
            await peer.letIn()
            peer.hangUp()
            _ = await lifecycle.first { $0.kind == .disconnect }
            manager.reconnect()
            peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .reconnect }
            // An open connection is replaced.
            manager.reconnect()
            peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .reconnect }
            #expect(socket.state == .connected)
            await manager.close()
        }
    }

    @Test func reconnectIgnoresThePolicy() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.reconnection = .none }
            let socket = manager.defaultSocket
            socket.open()
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            var peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .connect }
            manager.reconnect()
            peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .connect }
            await manager.close()
        }
    }

    @Test func theTimeoutHandlerIsCalled() async {
        let socket = SocketIOManager(url: "http://127.0.0.1:1").defaultSocket
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        socket.connect(timeoutAfter: 0.02) { continuation.yield() }
        #expect(await calls.first { _ in true } != nil)
        #expect(socket.state == .disconnected)
    }
}
