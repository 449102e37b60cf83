import ApusChatServer
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

    @Option(help: "The port of HTTPS; 0 takes a free one.")
    var tlsPort = 3443

    @Flag(name: .customLong("no-tls"), help: "Do not listen with TLS.")
    var noTLS = false

    @Option(help: "A PEM file with the certificate chain; without it a self-signed one is made at each start.")
    var certificate: String?

    @Option(help: "A PEM file with the certificate's key.")
    var key: String?

    @Option(help: "The folder of the database and the uploads.")
    var data = "./data"

    @Flag(help: "Make the accounts alice and bobby (password apus-demo) and answer the test page's events.")
    var demo = false

    @Option(help: "Serve for the public test suite of a protocol instead of a chat, with its settings: engineio or socketio.")
    var conformance: ProtocolSuite?

    @Option(help: "The least level of log that is written: trace, debug, info, notice, warning, error, critical.")
    var logLevel = "notice"

    func validate() throws {
        for (name, port) in [("--port", self.port), ("--tls-port", self.tlsPort)] where !(0...65_535).contains(port) {
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
        if let conformance { return try await conformance.serve(host: self.host, port: self.port) }
        let service = ServeService(server: ChatServer(configuration: self.configuration), demo: self.demo)
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
            throw Failure(message: error.message)
        } catch let error as ChatStoreError {
            throw Failure(message: error.message)
        }
    }

    private var configuration: ChatServerConfiguration {
        let tls: ChatServerConfiguration.TLS
        if self.noTLS {
            tls = .off
        } else if let certificate, let key {
            tls = .files(port: self.tlsPort, certificates: certificate, key: key)
        } else {
            tls = .selfSigned(port: self.tlsPort)
        }
        return ChatServerConfiguration(dataDirectory: self.data, host: self.host, port: self.port, tls: tls, demo: self.demo)
    }
}

/// What goes wrong, in one line, without the error's type.
private struct Failure: Error, CustomStringConvertible {
    var message: String
    var description: String { self.message }
}

private struct ServeService: Service {
    let server: ChatServer
    let demo: Bool

    func run() async throws {
        let demo = self.demo
        try await self.server.run { addresses in
            var lines = addresses.map { "listening on \($0.url)" }
            if demo { lines.append("demo accounts: alice and bobby, password apus-demo") }
            // At once, also into a pipe: whoever started the server waits for this line.
            writeStandardOutput(Data((lines.joined(separator: "\n") + "\n").utf8))
        }
    }
}
