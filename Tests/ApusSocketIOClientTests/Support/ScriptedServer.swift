import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusSocketIOClient
import ApusWebSocket
import ApusWebSocketProtocol
import HTTPTypes
import NIOCore
import Testing

/// A WebSocket server that opens Engine.IO sessions, sends texts chosen by the test, and returns
/// the texts it receives.
final class ScriptedServer: Sendable {
    /// One session.
    final class Peer: Sendable {
        private let connection: WebSocketConnection
        /// The path and query of the client's request.
        let target: String
        /// The texts that the client sent, without its pongs.
        let heard: AsyncStream<String>
        fileprivate let continuation: AsyncStream<String>.Continuation

        fileprivate init(_ connection: WebSocketConnection) {
            self.connection = connection
            self.target = connection.request?.path ?? ""
            (self.heard, self.continuation) = AsyncStream.makeStream(of: String.self)
        }

        func say(_ texts: String...) {
            for text in texts { _ = self.connection.post(.text(text)) }
        }

        /// Returns the next text that the client sends.
        func next() async -> String? { await self.heard.first { _ in true } }

        /// Receives a CONNECT, accepts it, and returns it.
        @discardableResult
        func letIn(_ grant: String = #"{"sid":"s1"}"#) async -> String? {
            let connect = await self.next()
            self.say("40" + grant)
            return connect
        }

        /// Closes the connection without a close frame.
        func hangUp() { self.connection.abort() }
    }

    let url: String
    private let peers: AsyncStream<Peer>

    private init(port: Int, peers: AsyncStream<Peer>) {
        self.url = "http://127.0.0.1:\(port)"
        self.peers = peers
    }

    /// Returns the next session.
    func nextPeer() async throws -> Peer { try #require(await self.peers.first { _ in true }) }

    /// Runs a server during `body`.
    static func run(_ body: (ScriptedServer) async throws -> Void) async throws {
        let (peers, found) = AsyncStream.makeStream(of: Peer.self)
        var configuration = WebSocketServerConfiguration()
        configuration.path = nil
        let server = WebSocketServer(configuration: configuration) { connection in
            let peer = Peer(connection)
            peer.say(#"0{"sid":"e1","upgrades":[],"pingInterval":25000,"pingTimeout":20000,"maxPayload":1000000}"#)
            found.yield(peer)
            defer { peer.continuation.finish() }
            for try await message in connection.messages {
                let text = String(buffer: message.payload)
                if text != "3" { peer.continuation.yield(text) }
            }
        }
        let (ports, bound) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(host: "127.0.0.1", port: 0) { bound.yield($0.port ?? 0) } }
        defer { running.cancel() }
        try await body(ScriptedServer(port: try #require(await ports.first { _ in true }), peers: peers))
        running.cancel()
        try await running.value
    }

    /// Creates a manager that connects to this server over WebSocket only, and reconnects after 5
    /// ms.
    func makeManager(_ change: (inout SocketIOManagerConfiguration) -> Void = { _ in }) -> SocketIOManager {
        var configuration = SocketIOManagerConfiguration(
            transports: [.webSocket], reconnection: .fixed(.milliseconds(5), stableTime: .zero))
        change(&configuration)
        return SocketIOManager(url: self.url, configuration: configuration)
    }
}
