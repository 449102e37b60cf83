import ApusConnectivity
import ApusEngineIOClient
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import Testing

/// The client with python-socketio 4.6, a server of Socket.IO 2.x (Engine.IO 3), with a configured
/// and an automatic version.
@Suite(
    .enabled(if: PythonPeer.interpreter4 != nil, "APUS_PYTHON_SOCKETIO4 does not name a Python 3.9 with python-socketio 4.6"), .serialized,
    .timeLimit(.minutes(5))
)
struct PythonPeer4Tests {
    private let seconds = Duration.seconds(60)

    private func manager(
        _ peer: PythonPeer, _ way: Way, version: EngineIOClientConfiguration.ProtocolVersion = .v3,
        reconnection: ReconnectionPolicy = .none
    ) -> SocketIOManager {
        var configuration = way.configuration(reconnection: reconnection)
        configuration.engine.version = version
        return SocketIOManager(url: peer.url, configuration: configuration)
    }

    @Test(arguments: Way.allCases, [EngineIOClientConfiguration.ProtocolVersion.v3, .automatic])
    func textAndNestedBinaryAreEchoed(way: Way, version: EngineIOClientConfiguration.ProtocolVersion) async throws {
        let peer = try PythonPeer(interpreter: PythonPeer.interpreter4)
        defer { peer.kill() }
        let socket = self.manager(peer, way, version: version).defaultSocket
        let echoes = socket.messages("echo", as: String.self, bufferingPolicy: .unbounded)
        socket.onLifecycle { event in
            if case .disconnect(let reason) = event, reason != .clientDisconnect { Issue.record("the connection was lost: \(reason)") }
        }
        try await socket.connect(timeout: self.seconds)
        for text in ["hello", "在吗 🐦 \u{2028}", String(repeating: "ü", count: 100_000)] {
            socket.emit("echo", text)
            #expect(await echoes.first { _ in true } == text)
        }
        let large = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
        let values: [SocketIOValue] = [1, -2.5, true, ["a": [1, "b", .binary([0, 0xff, 4])]], ["deep": [["er": .binary(large)]]], "c"]
        #expect(try await socket.emitWithAck("ack", arguments: values, timeout: self.seconds) == values)
        socket.disconnect()
        // The peer is killed next. The client must have disconnected before.
        for await state in socket.states(bufferingPolicy: .unbounded) where state == .disconnected { break }
    }

    @Test(arguments: Way.allCases) func theSessionTravelsAsAsked(way: Way) async throws {
        let peer = try PythonPeer(interpreter: PythonPeer.interpreter4)
        defer { peer.kill() }
        let socket = self.manager(peer, way).defaultSocket
        try await socket.connect(timeout: self.seconds)
        var seen: [String] = []
        repeat {
            seen.append(try await socket.emitWithAck("transport", timeout: self.seconds, as: String.self))
        } while way == .upgrade && seen.last != "websocket" && seen.count < 1000
        #expect(seen.last == (way == .polling ? "polling" : "websocket"))
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func theClientAnswersTheServersPing(way: Way) async throws {
        let peer = try PythonPeer(interpreter: PythonPeer.interpreter4)
        defer { peer.kill() }
        let socket = self.manager(peer, way).defaultSocket
        socket.on("question") { data, ack in ack.with(.binary([9]), .array(data)) }
        try await socket.connect(timeout: self.seconds)
        #expect(try await socket.emitWithAck("emit-back", arguments: ["x"], timeout: self.seconds) == [.binary([9]), ["x"]])
        socket.disconnect()
    }

    @Test(arguments: Way.allCases) func namespacesShareAConnectionAndARefusalCarriesItsData(way: Way) async throws {
        let peer = try PythonPeer(interpreter: PythonPeer.interpreter4)
        defer { peer.kill() }
        let manager = self.manager(peer, way)
        let custom = manager.socket(forNamespace: "/custom")
        let early = custom.messages("early", as: String.self, bufferingPolicy: .unbounded)
        try await custom.connect(timeout: self.seconds)
        #expect(await early.first { _ in true } == "before connect")
        // The server connected `/` without a request.
        let root = manager.defaultSocket
        try await root.connect(timeout: self.seconds)
        #expect(custom.id == root.id.map { "/custom#\($0)" })
        #expect(try await root.emitWithAck("ack", 1, timeout: self.seconds, as: Int.self) == 1)
        #expect(try await custom.emitWithAck("ack", 2, timeout: self.seconds, as: Int.self) == 2)
        let refused = await #expect(throws: SocketIOError.self) {
            try await manager.socket(forNamespace: "/private").connect(timeout: self.seconds)
        }
        #expect(refused == SocketIOError(.connectRefused, message: "unauthorized", data: ["code": "unauthorized"]))
        // In this order, because this server disconnects all namespaces when a client leaves `/`.
        custom.disconnect()
        #expect(try await root.emitWithAck("ack", 3, timeout: self.seconds, as: Int.self) == 3)
        root.disconnect()
    }

    @Test(arguments: Way.allCases) func aServerDisconnectPreventsReconnection(way: Way) async throws {
        let peer = try PythonPeer(interpreter: PythonPeer.interpreter4)
        defer { peer.kill() }
        let socket = self.manager(peer, way, reconnection: .fixed(.milliseconds(10))).socket(forNamespace: "/custom")
        let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
        try await socket.connect(timeout: self.seconds)
        socket.emit("leave-me")
        for await event in lifecycle {
            guard case .disconnect(let reason) = event else { continue }
            #expect(reason == .serverDisconnect)
            break
        }
        #expect(socket.state == .disconnected)
    }

    @Test(arguments: Way.allCases) func aRestartedServerIsFoundAgain(way: Way) async throws {
        let first = try PythonPeer(interpreter: PythonPeer.interpreter4)
        let socket = self.manager(first, way, version: .automatic, reconnection: .fixed(.milliseconds(50))).defaultSocket
        try await socket.connect(timeout: self.seconds)
        let lifecycle = socket.lifecycle(bufferingPolicy: .unbounded)
        first.kill()
        let second = try PythonPeer(port: first.port, interpreter: PythonPeer.interpreter4)
        for await event in lifecycle { if case .reconnect = event { break } }
        #expect(try await socket.emitWithAck("ack", "again", timeout: self.seconds, as: String.self) == "again")
        socket.disconnect()
        second.kill()
    }

    @Test func weKeepTheHeartbeatGoing() async throws {
        // In Engine.IO 3 the client pings. The server closes a session if no packet arrives within
        // the ping interval plus the ping timeout.
        let peer = try PythonPeer(arguments: ["--ping-interval", "0.2", "--ping-timeout", "0.4"], interpreter: PythonPeer.interpreter4)
        defer { peer.kill() }
        let socket = self.manager(peer, .webSocket).defaultSocket
        try await socket.connect(timeout: self.seconds)
        for number in 0..<12 {
            // The server acknowledges after the given time.
            #expect(try await socket.emitWithAck("wait", 0.1, timeout: self.seconds, as: Double.self) == 0.1, "turn \(number)")
        }
        #expect(socket.state == .connected)
        socket.disconnect()
    }
}
