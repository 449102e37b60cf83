import ApusCommandSupport
import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusSocketIOProtocol
import ApusSocketIOServer
import ApusWebSocket
import ArgumentParser
import Logging
import NIOCore
import NIOPosix

/// Runs the server that the public test suite of Engine.IO or Socket.IO expects.
struct ProtocolSuiteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suite", abstract: "Run the server that the public test suite of a protocol expects.")

    @Argument(help: "engineio or socketio.") var suite: ProtocolSuite
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port; 0 lets the system choose.") var port = 0

    func run() async throws { try await self.suite.serve(host: self.host, port: self.port) }
}

/// The servers that the test suites in the Engine.IO and Socket.IO protocol repositories expect,
/// with the settings that these suites require.
enum ProtocolSuite: String, ExpressibleByArgument, CaseIterable {
    /// An Engine.IO v3 and v4 server that echoes every message.
    case engineio
    /// A Socket.IO v5 server with the events `auth`, `message` and `message-with-ack` on `/` and
    /// `/custom`.
    case socketio

    private static let pingInterval = Duration.milliseconds(300)
    private static let pingTimeout = Duration.milliseconds(200)
    private static let maximumPayloadBytes = 1_000_000
    /// The event loop of all connections. The suites send over a WebSocket and then over HTTP
    /// without waiting, and expect the server to handle the two messages in order.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    func serve(host: String, port: Int) async throws {
        switch self {
        case .engineio: try await Self.serveEngineIO(host: host, port: port)
        case .socketio: try await Self.serveSocketIO(host: host, port: port)
        }
    }

    private static func serveEngineIO(host: String, port: Int) async throws {
        var configuration = EngineIOServerConfiguration()
        configuration.pingInterval = self.pingInterval
        configuration.pingTimeout = self.pingTimeout
        configuration.maximumPayloadBytes = self.maximumPayloadBytes
        configuration.origins = .any
        configuration.allowsEngineIO3 = true
        let engine = EngineIOServer(configuration: configuration, logger: Logger(label: "apus.serve")) { _ in Echo() }
        try await engine.serve(on: .host(host, port: port), tls: nil, Self.group) { address in
            print("listening on http://\(host):\(address.port ?? 0)/engine.io/")
            flushStandardOutput()
        }
    }

    private static func serveSocketIO(host: String, port: Int) async throws {
        var configuration = SocketIOServerConfiguration()
        configuration.engine.pingInterval = self.pingInterval
        configuration.engine.pingTimeout = self.pingTimeout
        configuration.engine.maximumPayloadBytes = self.maximumPayloadBytes
        configuration.connectTimeout = .seconds(1)
        configuration.engine.origins = .any
        configuration.engine.allowsEngineIO3 = true
        let io = SocketIOServer(configuration: configuration, logger: Logger(label: "apus.serve"))
        for name in ["/", "/custom"] {
            io.namespace(name).onConnection { socket in
                socket.emit("auth", arguments: [socket.handshake.auth])
                socket.on("message") { (event: SocketIOReceivedEvent) in socket.emit("message-back", arguments: event.arguments) }
                socket.on("message-with-ack") { (event: SocketIOReceivedEvent) in event.acknowledge(values: event.arguments) }
            }
        }
        try await io.run(host: host, port: port, eventLoopGroup: Self.group) { address in
            print("listening on http://\(host):\(address.port ?? 0)/socket.io/")
            flushStandardOutput()
        }
    }
}

/// Echoes every message.
private final class Echo: EngineIOSessionDelegate {
    func sessionOpened(_ session: EngineIOSession) {}
    func session(_ session: EngineIOSession, received message: EngineIOMessage) { session.send(message) }
    func session(_ session: EngineIOSession, closed reason: EngineIOCloseReason) {}
}
