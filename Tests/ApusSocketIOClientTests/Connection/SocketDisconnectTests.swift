import ApusEventLoop
import ApusJSON
import ApusSocketIOClientCompatibility
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusSocketIOClient

@Suite(.timeLimit(.minutes(5))) struct SocketDisconnectTests {
    @Test func aListenerMayDisconnectDuringTheConnect() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager()
            let socket = manager.defaultSocket
            let isFirst = NIOLockedValueBox(true)
            let connects = NIOLockedValueBox(0)
            socket.on(clientEvent: .statusChange) { data, _ in
                guard data.first == "connected", isFirst.withLockedValue({ $0 }) else { return }
                isFirst.withLockedValue { $0 = false }
                socket.disconnect()
            }
            socket.on(clientEvent: .connect) { _, _ in connects.withLockedValue { $0 += 1 } }
            socket.emit("kept")
            let failed = Task { try await socket.connect() }
            let peer = try await server.nextPeer()
            await peer.letIn()
            #expect(await peer.next() == "41")
            let error = await #expect(throws: SocketIOError.self) { try await failed.value }
            #expect(error?.code == .disconnected)
            #expect(connects.withLockedValue { $0 } == 0)
            // The buffered event is sent over the next connection.
            socket.open()
            let second = try await server.nextPeer()
            await second.letIn()
            #expect(await second.next() == #"42["kept"]"#)
            #expect(connects.withLockedValue { $0 } == 1)
            await manager.close()
        }
    }

    @Test func closeWaitsForAnEarlierDisconnect() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager()
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.open()
            let peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .connect }
            let core = manager.lifetime.core
            let departing = try await core.eventLoop.submit {
                socket.emit("last")
                socket.disconnect()
                return core.value.departing
            }.get()
            #expect(departing == 1)
            await manager.close(timeout: .seconds(60))
            #expect(try await core.eventLoop.submit { core.value.departing }.get() == 0)
            #expect(await peer.next() == #"42["last"]"#)
            #expect(await peer.next() == "41")
        }
    }
}
