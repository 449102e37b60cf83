// The code of the landing page of ApusChatServer. `scripts/check-snippets` compares the two.
import ApusChatServer
import Logging
import ServiceLifecycle
import UnixSignals

func runChat(in folder: String, logger: Logger) async throws {
    var configuration = ChatServerConfiguration(
        dataFolder: folder, host: "0.0.0.0", port: 8080, tls: .selfSigned(port: 8443))
    configuration.registration = .invitation
    let server = ChatServer(configuration: configuration, logger: logger)
    try await server.run { addresses in
        for address in addresses { print("listening on \(address.url)") }
    }
}

func runChat(_ server: ChatServer, logger: Logger) async throws {
    let group = ServiceGroup(services: [server], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
    try await group.run()
}
