import ApusEngineIOClient
import ApusSocketIOClient
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import Testing

/// Servers of Socket.IO 2.x that accept any version over a WebSocket. Their first packet reveals
/// the version.
@Suite(.timeLimit(.minutes(5))) struct SocketVersionTests {
    private typealias Version = EngineIOClientConfiguration.ProtocolVersion

    /// Records the lifecycle events of a socket, except the changes of its state.
    private final class Journal: Sendable {
        private let lines = NIOLockedValueBox<[SocketIOClientLifecycleEvent.Kind]>([])
        var kinds: [SocketIOClientLifecycleEvent.Kind] { self.lines.withLockedValue { $0 } }

        init(_ socket: SocketIOClient) {
            socket.onLifecycle { event in
                if event.kind != .statusChange { self.lines.withLockedValue { $0.append(event.kind) } }
            }
        }
    }

    @Test(arguments: ["/", "/chat"]) func theOtherVersionIsTried(namespace: String) async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager()
            let socket = manager.socket(forNamespace: namespace)
            let journal = Journal(socket)
            socket.emit("early", 1)
            let connecting = Task { try await socket.connect(timeout: .seconds(60)) }
            let first = try await server.nextPeer()
            #expect(first.target.contains("EIO=4"))
            first.say("40")
            let prefix = namespace == "/" ? "" : namespace + ","
            _ = await first.next()
            if namespace != "/" { first.say("40\(namespace)") }
            let second = try await server.nextPeer()
            #expect(second.target.contains("EIO=3"))
            second.say("40")
            if namespace != "/" {
                #expect(await second.next() == "40\(namespace),")
                second.say("40\(namespace)")
            }
            try await connecting.value
            #expect(socket.id == (namespace == "/" ? "e1" : "/chat#e1"))
            #expect(await second.next() == #"42\#(prefix)["early",1]"#)
            // The change of version is neither a failure nor a reconnection.
            #expect(journal.kinds == [.connect])
            // The next connection starts with the detected version.
            second.hangUp()
            let third = try await server.nextPeer()
            #expect(third.target.contains("EIO=3"))
            await manager.close()
        }
    }

    @Test func aConfiguredVersionFailsOnce() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager { $0.engine.version = .v4 }
            let socket = manager.defaultSocket
            let journal = Journal(socket)
            let connecting = Task { try await socket.connect(timeout: .seconds(60)) }
            let peer = try await server.nextPeer()
            peer.say("40")
            let error = await #expect(throws: SocketIOError.self) { try await connecting.value }
            #expect(error?.code == .unsupportedVersion && error?.message.contains(".v3") == true)
            #expect(journal.kinds == [.error] && socket.state == .disconnected)
            await manager.close()
        }
    }
}
