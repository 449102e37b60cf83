import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClientCompatibility
import ApusSocketIOProtocol
import Testing

@testable import ApusSocketIOClient

@Suite struct SocketIOManagerTests {
    @Test func aWrongURLFailsTheConnectAtOnce() async {
        let socket = SocketIOManager(url: "nonsense").defaultSocket
        let error = await #expect(throws: SocketIOError.self) { try await socket.connect(timeout: .seconds(60)) }
        #expect(error?.code == .invalidUse)
        #expect(socket.state == .disconnected)
    }

    private static let invalidSettings: [(String, @Sendable (inout SocketIOManagerConfiguration) -> Void)] = [
        ("ackTimeout", { $0.ackTimeout = .zero }), ("attachmentsTimeout", { $0.attachmentsTimeout = .seconds(-1) }),
        ("retries", { $0.retries = -1 }), ("maximumPendingCallbacks", { $0.maximumPendingCallbacks = -1 }),
        ("maximumPendingCallbackBytes", { $0.maximumPendingCallbackBytes = -1 }),
        ("maximumBufferedEvents", { $0.maximumBufferedEvents = -1 }), ("maximumBufferedBytes", { $0.maximumBufferedBytes = -1 }),
        ("maximumEarlyEvents", { $0.maximumEarlyEvents = -1 }), ("maximumEarlyBytes", { $0.maximumEarlyBytes = -1 }),
        ("maximumPendingAcks", { $0.maximumPendingAcks = -1 }), ("maximumAttachments", { $0.maximumAttachments = -1 }),
        ("timeout", { $0.engine.timeout = .seconds(-1) }), ("requestTimeout", { $0.engine.requestTimeout = .zero }),
        ("maximumMessageBytes", { $0.engine.maximumMessageBytes = 0 }), ("maximumQueuedBytes", { $0.engine.maximumQueuedBytes = -5 }),
        ("path", { $0.engine.path = "" }), ("path", { $0.engine.path = "/a?b" }),
    ]

    @Test(arguments: SocketIOManagerTests.invalidSettings)
    func aSettingOutOfRangeFailsTheConnectAtOnce(name: String, change: @Sendable (inout SocketIOManagerConfiguration) -> Void) async {
        var configuration = SocketIOManagerConfiguration()
        change(&configuration)
        let socket = SocketIOManager(url: "http://127.0.0.1:1", configuration: configuration).defaultSocket
        let error = await #expect(throws: SocketIOError.self) { try await socket.connect(timeout: .seconds(60)) }
        #expect(error?.code == .invalidUse)
        #expect(error?.message.contains("`\(name)`") == true)
        #expect(socket.state == .disconnected)
    }

    @Test func theBufferIsBoundedAndAFailedAckIsNotSent() async {
        var configuration = SocketIOManagerConfiguration()
        configuration.maximumBufferedEvents = 2
        let socket = SocketIOManager(url: "http://127.0.0.1:1", configuration: configuration).defaultSocket
        let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
        socket.emit("a")
        let timeout = await #expect(throws: SocketIOError.self) {
            try await socket.emitWithAck("b", arguments: [], timeout: .milliseconds(1))
        }
        #expect(timeout?.code == .ackTimeout)
        // `b` was removed from the buffer with its timeout, which leaves room for one event.
        socket.emit("c")
        let full = await #expect(throws: SocketIOError.self) { try await socket.emitWithAck("d", arguments: [], timeout: .seconds(60)) }
        #expect(full?.code == .bufferFull)
        socket.emit("e")
        for await event in lifecycle {
            guard case .error(let error) = event else { continue }
            #expect(error.code == .bufferFull)
            break
        }
    }

    @Test func whatCannotBeSentFails() async {
        let socket = SocketIOManager(url: "http://127.0.0.1:1").defaultSocket
        let reserved = await #expect(throws: SocketIOError.self) { try await socket.emitWithAck("connect", arguments: []) }
        #expect(reserved?.code == .invalidUse)
        let infinite = await #expect(throws: SocketIOError.self) { try await socket.emitWithAck("x", arguments: [.double(.infinity)]) }
        #expect(infinite?.code == .invalidUse)
    }

    @Test(arguments: [Double.nan, -1, -Double.infinity])
    func anInvalidTimeoutElapsesAtOnce(seconds: Double) async {
        let socket = SocketIOManager(url: "http://127.0.0.1:1").defaultSocket
        await withCheckedContinuation { continuation in
            socket.connect(timeoutAfter: seconds) { continuation.resume() }
        }
        #expect(socket.state == .disconnected)
    }

    @Test func aTimeoutOfZeroIsNil() async throws {
        try await ScriptedServer.run { server in
            let manager = server.makeManager()
            let socket = manager.defaultSocket
            let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
            socket.connect(timeoutAfter: 0) { Issue.record("the connect failed") }
            let peer = try await server.nextPeer()
            await peer.letIn()
            _ = await lifecycle.first { $0.kind == .connect }
            #expect(socket.state == .connected)
            await manager.close()
        }
    }

    @Test func aCancelledCallEnds() async {
        let socket = SocketIOManager(url: "http://127.0.0.1:1").defaultSocket
        let task = Task { try await socket.emitWithAck("x", arguments: [], timeout: .seconds(60)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let connecting = Task { try await socket.connect(timeout: .seconds(60)) }
        connecting.cancel()
        await #expect(throws: CancellationError.self) { try await connecting.value }
        #expect(socket.state == .disconnected)
    }

    @Test(
        arguments: [
            ("http://example.com", "example.com"), ("https://example.com:3443/chat?a=b", "example.com"), ("ws://127.0.0.1:80", "127.0.0.1"),
            ("http://[::1]:80/", "::1"), ("nonsense", "nonsense"), ("", ""), ("http://?", ""),
        ])
    func theHostIsFound(url: String, host: String) {
        #expect(SocketIOManagerCore.host(of: url) == host)
    }

    @Test func theSocketsOfANamespaceShareItsState() {
        let manager = SocketIOManager(url: "http://127.0.0.1:1")
        #expect(manager.socket(forNamespace: "chat").namespace == "/chat")
        #expect(manager.socket(forNamespace: "/chat").core === manager.socket(forNamespace: "chat").core)
        #expect(manager.defaultSocket.namespace == "/")
    }

    @Test func theReasonsMatchNodesClient() {
        func reason(_ code: EngineIOError.Code) -> SocketIOClientDisconnectReason {
            SocketIOClientDisconnectReason(EngineIOError(code, message: ""))
        }
        #expect(reason(.heartbeatTimeout) == .pingTimeout)
        #expect(reason(.closed) == .transportClose)
        #expect(reason(.transportError) == .transportError)
        #expect(reason(.malformedPacket) == .parseError)
        #expect(SocketIOClientDisconnectReason.transportClose.permitsReconnect)
        #expect(!SocketIOClientDisconnectReason.serverDisconnect.permitsReconnect)
        #expect(SocketIOClientDisconnectReason.serverDisconnect.description == "io server disconnect")
    }
}
