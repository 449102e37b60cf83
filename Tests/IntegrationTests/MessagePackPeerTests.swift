import ApusConnectivity
import ApusEngineIOProtocol
import ApusEventLoop
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ApusSocketIOServer
import Foundation
import NIOCore
import Testing

/// MessagePack with python-socketio (msgpack-python) and between Apus peers, over every transport.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct MessagePackPeerTests {
    private static let seconds = Duration.seconds(60)

    private static let values: [SocketIOValue] = [
        nil, true, 0, -1, 127, 128, -32, -33, 65_536, 4_294_967_296, -2_147_483_649, 1.5, "", "在吗？ 🐦 \u{1e}\u{0}",
        .binary([]), .binary([0, 0xff]), ["deep": [["er": .binary((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })]]],
        ["_placeholder": true, "num": 7], .string(String(repeating: "x", count: 100_000)), .array(Array(repeating: 1, count: 70_000)),
    ]

    private func configuration(_ way: Way, auth: SocketIOClientAuthentication = .none) -> SocketIOManagerConfiguration {
        var configuration = way.configuration(auth: auth)
        configuration.parser = .messagePack
        return configuration
    }

    /// Tests the events that both servers support.
    private func exchange(with url: String, _ way: Way) async throws {
        let manager = SocketIOManager(url: url, configuration: self.configuration(way, auth: ["who": "me", "bytes": .binary([1])]))
        for socket in [manager.defaultSocket, manager.socket(forNamespace: "/custom")] {
            try await socket.connect(timeout: Self.seconds)
            let echoes = socket.messages("echo", as: SocketIOValue.self, bufferingPolicy: .unbounded)
            for value in Self.values {
                socket.emit("echo", arguments: [value])
                #expect(await echoes.first { _ in true } == value)
            }
            #expect(try await socket.emitWithAck("ack", arguments: Self.values, timeout: Self.seconds) == Self.values)
            #expect(try await socket.emitWithAck("auth", arguments: [], timeout: Self.seconds) == [["who": "me", "bytes": .binary([1])]])
            socket.on("question") { data, ack in ack.with(.binary([9]), .array(data)) }
            #expect(try await socket.emitWithAck("emit-back", arguments: ["x"], timeout: Self.seconds) == [.binary([9]), ["x"]])
        }
        let refused = await #expect(throws: SocketIOError.self) {
            try await manager.socket(forNamespace: "/private", auth: ["token": "wrong"]).connect(timeout: Self.seconds)
        }
        #expect(refused == SocketIOError(.connectRefused, message: "unauthorized", data: ["code": "unauthorized"]))
        manager.disconnect()
    }

    private func withServer(_ body: (String) async throws -> Void) async throws {
        var configuration = SocketIOServerConfiguration()
        configuration.parser = .messagePack
        let server = SocketIOServer(configuration: configuration)
        for name in ["/", "/custom"] {
            let namespace = server.namespace(name)
            namespace.onConnection { socket in
                socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", arguments: event.arguments) }
                socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
                socket.on("auth") { (event: SocketIOReceivedEvent) in event.acknowledge(socket.handshake.auth) }
                socket.on("ask") { (value: SocketIOValue) in
                    try await socket.emitWithAck("question", value, timeout: Self.seconds, as: SocketIOValue.self)
                }
                socket.on("emit-back") { (event: SocketIOReceivedEvent) in
                    Task {
                        let answer = try await socket.emitWithAck("question", arguments: event.arguments, timeout: Self.seconds)
                        event.acknowledge(values: answer)
                    }
                }
                socket.on("join") { (room: String) -> Void in socket.join(room) }
                socket.on("to-room") { (room: String, value: SocketIOValue) -> Void in namespace.to(room).emit("room", value) }
                socket.on("leave-me") { () -> Void in socket.disconnect() }
            }
        }
        server.namespace("/private").use { socket in
            guard socket.handshake.auth["token"] == "secret" else {
                throw SocketIOConnectionRefusal(message: "unauthorized", data: ["code": "unauthorized"])
            }
        }
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { address in found.yield(address.port ?? 0) } }
        defer { running.cancel() }
        let port = try #require(await ports.first { _ in true })
        try await body("http://127.0.0.1:\(port)")
        running.cancel()
        try await running.value
    }

    @Test(arguments: Way.allCases) func ourClientAndOurServer(way: Way) async throws {
        try await self.withServer { try await self.exchange(with: $0, way) }
    }

    @Test(.enabled(if: PythonPeer.interpreter != nil, "APUS_PYTHON does not name a Python with python-socketio"), arguments: Way.allCases)
    func ourClientAndPythonsServer(way: Way) async throws {
        let peer = try PythonPeer(arguments: ["--msgpack"])
        try await self.exchange(with: peer.url, way)
    }

    @Test(.enabled(if: PythonPeer.interpreter != nil, "APUS_PYTHON does not name a Python with python-socketio"), arguments: Way.allCases)
    func pythonsClientAndOurServer(way: Way) async throws {
        let transports = way == .upgrade ? ["polling", "websocket"] : [way == .polling ? "polling" : "websocket"]
        try await self.withServer { url in
            let (status, output) = try await Self.run("python_socketio_msgpack_client.py", [url] + transports)
            #expect(status == 0, "\(output)")
        }
    }

    /// Runs a script of `Conformance/peers` with a time limit of one minute.
    private static func run(_ script: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/timeout")
        process.arguments =
            ["60", PythonPeer.interpreter ?? "python3", folder.appendingPathComponent("Conformance/peers/\(script)").path] + arguments
        process.standardOutput = pipe
        process.standardError = pipe
        return try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { process in
                let output = String(decoding: pipe.fileHandleForReading.availableData.suffix(4000), as: UTF8.self)
                continuation.resume(returning: (process.terminationStatus, output))
            }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
    }
}
