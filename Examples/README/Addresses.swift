import ApusConnectivity
import ApusEventLoop
import ApusSocketIOClient
import ApusSocketIOServer
import ApusWebSocket
import ApusWebSocketProtocol
import Foundation
import NIOCore

// The README's code uses a port that may be taken and a host that does not exist. In this module,
// the functions below shadow two initializers and a method, and replace those addresses with the
// one in `APUS_EXAMPLE_ADDRESS`.

/// The value of `APUS_EXAMPLE_ADDRESS`, such as `127.0.0.1:PORT`.
private var address: String { ProcessInfo.processInfo.environment["APUS_EXAMPLE_ADDRESS"] ?? "127.0.0.1:0" }

// swift-format-ignore: AlwaysUseLowerCamelCase
func SocketIOManager(url: String) -> ApusSocketIOClient.SocketIOManager {
    precondition(url == "http://127.0.0.1:3000")
    return ApusSocketIOClient.SocketIOManager(url: "http://\(address)")
}

// swift-format-ignore: AlwaysUseLowerCamelCase
func WebSocketSession(
    _ url: String, reconnection: ReconnectionPolicy, heartbeat: WebSocketHeartbeat
) -> ApusWebSocket.WebSocketSession {
    precondition(url == "wss://example.com/feed")
    return ApusWebSocket.WebSocketSession("ws://\(address)/feed", reconnection: reconnection, heartbeat: heartbeat)
}

extension SocketIOServer {
    /// Listens on a free port and prints it.
    func run(host: String, port: Int) async throws {
        precondition(host == "127.0.0.1" && port == 3000)
        try await self.run(host: host, port: 0, onListening: { print("listening on \(host):\($0.port ?? 0)") })
    }
}
