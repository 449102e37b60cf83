import ApusCommandSupport
import ApusEngineIOServer
import ApusJSON
import ApusSocketIOProtocol
import ApusSocketIOServer
import ApusWebSocketProtocol
import ArgumentParser
import Logging
import NIOCore

/// The server that the tests in `Conformance/` use. `Conformance/README.md` describes its events.
/// SIGTERM shuts it down gracefully.
struct ConformanceServer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server", abstract: "Run the server of the conformance tests.")

    @Option(help: "The port; 0 selects a free port.") var port = 0

    @Flag(name: .customLong("allow-eio3"), help: "Also accept Socket.IO 2.x clients.") var allowsEngineIO3 = false

    @Flag(help: "Compress WebSocket messages (permessage-deflate).") var compression = false

    @Flag(help: "Serve the admin page at /admin, with name \"admin\" and password \"secret\".") var admin = false

    @Option(help: "The ping interval in milliseconds.") var pingInterval = 25_000

    @Option(help: "The ping timeout in milliseconds.") var pingTimeout = 20_000

    @Option(help: "The maximum size of a message, in bytes.") var maxPayload = 1_000_000

    @Flag(help: "Encode packets as MessagePack.") var msgpack = false

    @Option(help: "The file to which `record` events are written before they are acknowledged.") var journal: String?

    func run() async throws {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.allowsEngineIO3 = self.allowsEngineIO3
        configuration.engine.perMessageDeflate = self.compression ? .init() : nil
        configuration.engine.pingInterval = .milliseconds(self.pingInterval)
        configuration.engine.pingTimeout = .milliseconds(self.pingTimeout)
        configuration.engine.maximumPayloadBytes = self.maxPayload
        if self.msgpack { configuration.parser = .messagePack }
        let io = SocketIOServer(configuration: configuration, logger: Logger(label: "apus.conformance"))
        let journal = try self.journal.map(ConformanceJournal.init(path:))
        if self.admin {
            let password = try SocketIOAdminPassword(hashing: "secret", logRounds: 4)
            io.enableAdmin(SocketIOAdminConfiguration(authentication: .basic(username: "admin", password: password)))
        }
        for name in ["/", "/custom", "/private"] { Self.serve(io.namespace(name), journal) }
        io.namespace("/private").use { socket in
            guard socket.handshake.auth["token"] == "secret" else {
                throw SocketIOConnectionRefusal(message: "unauthorized", data: ["code": "unauthorized"])
            }
        }
        let port = self.port
        try await TerminationSignals.run {
            try await io.run(host: "127.0.0.1", port: port) { address in
                print("listening on 127.0.0.1:\(address.port ?? 0)")
                flushStandardOutput()
            }
        }
    }

    private static func serve(_ namespace: SocketIONamespace, _ journal: ConformanceJournal?) {
        namespace.onConnection { socket in
            socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", payload: event.payload) }
            socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(payload: event.payload) }
            socket.on("emit-back") { (event: SocketIOReceivedEvent) in
                Task {
                    let answer = try await socket.emitWithAck("question", arguments: event.arguments, timeout: .seconds(5))
                    event.acknowledge(values: answer)
                }
            }
            socket.on("bc") { (event: SocketIOReceivedEvent) in namespace.emit("bc", payload: event.payload) }
            socket.on("join") { (room: String) in
                socket.join(room)
                return socket.rooms.sorted()
            }
            socket.on("leave") { (room: String) in
                socket.leave(room)
                return socket.rooms.sorted()
            }
            socket.on("to-room") { (room: String, value: SocketIOValue) in socket.to(room).emit("room", room, value) }
            socket.on("transport") { (event: SocketIOReceivedEvent) in event.acknowledge(.string(socket.transportName ?? "none")) }
            socket.on("leave-me") { (_: SocketIOReceivedEvent) in socket.disconnect() }
            socket.on("close-me") { (_: SocketIOReceivedEvent) in socket.disconnect(close: true) }
            if let journal {
                socket.on("record") { (event: SocketIOReceivedEvent) in
                    if journal.append(event.arguments) { event.acknowledge(values: event.arguments) }
                }
            }
        }
    }
}
