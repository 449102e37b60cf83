import ApusCommandSupport
import ApusEngineIOServer
import ApusJSON
import ApusSocketIOServer
import ApusWebSocket
import ApusWebSocketProtocol
import ArgumentParser
import Foundation
import Logging
import NIOCore
import NIOPosix

/// `apus bench server`: runs the server that the loads expect.
struct BenchServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "server", abstract: "Run a server to measure.",
        discussion: """
            Socket.IO events: `echo` is answered with `echo` and the same arguments; `ack` is acknowledged with its arguments; `bc` is \
            broadcast to all clients; `join` and `leave` take a room; `room` takes a room and a value, and sends the value to the room; \
            `flood` takes a count and a value, and sends that number of `flood` events. With --raw, the server is a plain WebSocket server \
            that echoes every message.
            """)

    @Option(help: "The address to listen on.") var host = "127.0.0.1"

    @Option(help: "The port; 0 selects a free port.") var port = 0

    @Flag(help: "Run a plain WebSocket echo server.") var raw = false

    @Option(help: "The number of event loops.") var threads = 1

    @Option(help: "The maximum size of a message, in bytes.") var maxMessage = 16 << 20

    func validate() throws {
        try ValidationError.check("--port", self.port, in: 0...65_535)
        try ValidationError.check("--threads", self.threads, in: 1...256)
        try ValidationError.check("--max-message", self.maxMessage, in: 1...(1 << 30))
    }

    func run() async throws {
        BenchProcess.raiseDescriptorLimit()
        FreedMemory.keep()
        let group = MultiThreadedEventLoopGroup(numberOfThreads: self.threads)
        let (host, port, raw, maxMessage) = (self.host, self.port, self.raw, self.maxMessage)
        try await TerminationSignals.run {
            if raw {
                try await BenchServer.webSocket(maximumMessageBytes: maxMessage).run(
                    host: host, port: port, eventLoopGroup: group, onListening: { Self.announce($0.port) })
            } else {
                try await BenchServer.socketIO(maximumMessageBytes: maxMessage).run(
                    host: host, port: port, eventLoopGroup: group, onListening: { Self.announce($0.port) })
            }
        }
        try await group.shutdownGracefully()
    }

    private static func announce(_ port: Int?) {
        writeStandardOutput(Data("listening on port \(port ?? 0)\n".utf8))
    }
}

/// The two servers. They use the default settings, except for the sizes of messages and of queues,
/// the time limit of a shutdown, and the path of the WebSocket server.
enum BenchServer {
    static func webSocket(maximumMessageBytes: Int) -> WebSocketServer {
        var configuration = WebSocketServerConfiguration()
        configuration.path = nil
        configuration.limits = WebSocketLimits(maximumMessageBytes: maximumMessageBytes)
        configuration.flow.postedBytes = max(configuration.flow.postedBytes, 4 * maximumMessageBytes)
        configuration.drainTimeout = .seconds(1)
        return WebSocketServer(configuration: configuration, logger: self.logger) { connection in
            connection.onMessage { connection, message in connection.post(message) }
        }
    }

    static func socketIO(maximumMessageBytes: Int) -> SocketIOServer {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.maximumPayloadBytes = maximumMessageBytes
        configuration.engine.maximumQueuedBytes = max(configuration.engine.maximumQueuedBytes, 4 * maximumMessageBytes)
        configuration.engine.drainTimeout = .seconds(1)
        let io = SocketIOServer(configuration: configuration, logger: self.logger)
        let serve: @Sendable (SocketIONamespace) -> Void = { namespace in
            namespace.onConnection { socket in
                socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", payload: event.payload) }
                socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(payload: event.payload) }
                socket.on("bc") { (event: SocketIOReceivedEvent) in namespace.emit("bc", payload: event.payload) }
                // Not `(room: String)`: a typed handler allocates an object for each socket, and
                // the memory per socket is measured with this server.
                socket.on("join") { (event: SocketIOReceivedEvent) in
                    if let room = event.arguments.first?.stringValue { socket.join(room) }
                    event.acknowledge()
                }
                socket.on("leave") { (event: SocketIOReceivedEvent) in
                    if let room = event.arguments.first?.stringValue { socket.leave(room) }
                    event.acknowledge()
                }
                // The number of events is limited, because the queue for one client is limited too.
                socket.on("flood") { (event: SocketIOReceivedEvent) in
                    let arguments = event.arguments
                    guard arguments.count == 2, let count = arguments[0].intValue else { return }
                    for _ in 0..<min(max(count, 0), 100_000) { socket.emit("flood", arguments: [arguments[1]]) }
                    event.acknowledge()
                }
                socket.on("room") { (event: SocketIOReceivedEvent) in
                    let arguments = event.arguments
                    guard arguments.count == 2, let room = arguments[0].stringValue else { return }
                    namespace.to(room).emit("room", arguments: [arguments[1]])
                    event.acknowledge()
                }
            }
        }
        serve(io.namespace("/"))
        // Accepts any number of namespaces, for `Benchmarks/growth`.
        let bench = io.namespaces { name, _ in name.hasPrefix("/bench-") }
        bench.onConnection { socket in
            socket.on("echo") { (event: SocketIOReceivedEvent) in socket.emit("echo", payload: event.payload) }
            socket.on("ack") { (event: SocketIOReceivedEvent) in event.acknowledge(payload: event.payload) }
        }
        return io
    }

    private static var logger: Logger {
        var logger = Logger(label: "apus.bench") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        return logger
    }
}
