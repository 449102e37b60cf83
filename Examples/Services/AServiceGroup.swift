// The code of the landing page of ApusServices. `scripts/check-snippets` compares the two.
import ApusServices
import ApusSocketIOServer
import ApusWebSocket
import Logging
import ServiceLifecycle
import UnixSignals

func run(_ server: SocketIOServer, beside feed: WebSocketSession) async throws {
    let group = ServiceGroup(
        services: [feed.service(), server.service(host: "127.0.0.1", port: 3000)],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "app"))
    try await group.run()
}
