import ApusChatServer
import ApusCommandSupport
import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// `apus serve`: a whole chat server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a chat server: accounts, messages, pictures and the page to use them.",
        discussion: "Stops on Ctrl-C or SIGTERM, after telling everybody connected and committing what is queued."
    )

    @Option(help: "The address to listen on. 0.0.0.0 is every IPv4 address of this machine.")
    var host = "127.0.0.1"

    @Option(help: "The port of HTTP; 0 takes a free one.")
    var port = 3000

    @Option(help: "The port of HTTPS; 0 takes a free one. Default: 3443, and no HTTPS when another program has that port.")
    var tlsPort: Int?

    @Flag(name: .customLong("no-tls"), help: "Do not listen with TLS.")
    var noTLS = false

    @Option(help: "A PEM file with the certificate chain; without it a self-signed one is made at each start.")
    var certificate: String?

    @Option(help: "A PEM file with the certificate's key.")
    var key: String?

    @Option(help: "The folder of the database and the uploads.")
    var data = "./data"

    @Option(
        help: ArgumentHelp("Serve the page from this folder, as its files change, instead of from the binary.", valueName: "folder"))
    var page: String?

    @Flag(
        help:
            "Make the accounts alice and bobby (password apus-demo), answer the events of the test page and the README, take Socket.IO 2.x clients."
    )
    var demo = false

    @Flag(name: .customLong("engineio3"), help: "Take clients of Socket.IO 2.x (Engine.IO 3) too; --demo does so by itself.")
    var allowsEngineIO3 = false

    @Option(help: "The least level of log that is written: trace, debug, info, notice, warning, error, critical.")
    var logLevel = "notice"

    func validate() throws {
        for (name, port) in [("--port", self.port), ("--tls-port", self.tlsPort ?? 0)] where !(0...65_535).contains(port) {
            throw ValidationError("\(name) must be from 0 to 65535")
        }
        guard (self.certificate == nil) == (self.key == nil) else { throw ValidationError("give both --certificate and --key, or neither") }
        guard Logger.Level(rawValue: self.logLevel) != nil else { throw ValidationError("--log-level: there is no level \(self.logLevel)") }
    }

    func run() async throws {
        FreedMemory.keep()
        let level = Logger.Level(rawValue: self.logLevel) ?? .notice
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = level
            return handler
        }
        let service = ServeService(
            server: ChatServer(configuration: self.configuration), demo: self.demo, expectsTLS: !self.noTLS)
        let group = ServiceGroup(
            configuration: {
                var configuration = ServiceGroupConfiguration(
                    services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
                    gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: "apus.serve"))
                configuration.maximumGracefulShutdownDuration = .seconds(10)
                return configuration
            }())
        do {
            try await group.run()
        } catch let error as ChatServerError {
            guard error.code == .addressInUse else { throw Failure(message: error.message) }
            throw Failure(message: "\(error.message) with \(error.port == self.port ? "--port" : "--tls-port")")
        } catch let error as ChatStoreError {
            throw Failure(message: error.message)
        }
    }

    private var configuration: ChatServerConfiguration {
        let tls: ChatServerConfiguration.TLS
        if self.noTLS {
            tls = .off
        } else if let certificate, let key {
            tls = .files(port: self.tlsPort ?? Self.standardTLSPort, certificates: certificate, key: key)
        } else {
            tls = .selfSigned(port: self.tlsPort ?? Self.standardTLSPort, isOptional: self.tlsPort == nil)
        }
        var configuration = ChatServerConfiguration(
            dataDirectory: self.data, host: self.host, port: self.port, tls: tls, demo: self.demo)
        configuration.allowsEngineIO3 = self.allowsEngineIO3
        configuration.pageFolder = self.page
        return configuration
    }

    private static let standardTLSPort = 3443
}

/// What goes wrong, in one line, without the error's type.
private struct Failure: Error, CustomStringConvertible {
    var message: String
    var description: String { self.message }
}

private struct ServeService: Service {
    let server: ChatServer
    let demo: Bool
    let expectsTLS: Bool

    func run() async throws {
        let (demo, expectsTLS) = (self.demo, self.expectsTLS)
        try await self.server.run { addresses in
            var lines = addresses.map { "listening on \($0.url)" }
            if expectsTLS, !addresses.contains(where: { $0.scheme == "https" }) {
                lines.append("without TLS: another program has the port for it; --tls-port PORT takes another")
            }
            if demo { lines.append("demo accounts: alice and bobby, password apus-demo") }
            // At once, also into a pipe: whoever started the server waits for this line.
            writeStandardOutput(Data((lines.joined(separator: "\n") + "\n").utf8))
        }
    }
}
