import ApusChatServer
import ApusCommandSupport
import ArgumentParser
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// `apus serve`: runs a chat server.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run a chat server with accounts, messages, files and a web page.",
        discussion: "Stops on Ctrl-C or SIGTERM, after it has closed all connections and committed queued messages."
    )

    @Option(help: "The address to listen on; 0.0.0.0 means every IPv4 address of this machine.")
    var host = "127.0.0.1"

    @Option(help: "The HTTP port; 0 selects a free port.")
    var port = 3000

    @Option(help: "The HTTPS port; 0 selects a free port. Default: 3443, or no HTTPS if that port is in use.")
    var tlsPort: Int?

    @Flag(name: .customLong("no-tls"), help: "Do not listen with TLS.")
    var noTLS = false

    @Flag(name: .customLong("no-http"), help: "Do not listen for plain HTTP. Default: with --certificate, plain HTTP redirects to HTTPS.")
    var noHTTP = false

    @Option(help: "A PEM file with the certificate chain. Default: a self-signed certificate, generated at each start.")
    var certificate: String?

    @Option(help: "A PEM file with the certificate's private key.")
    var key: String?

    @Option(help: "The folder for the database and the uploads.")
    var data = "./data"

    @Option(
        help: ArgumentHelp(
            "Serve the web page from this folder instead of the built-in copy; changes apply immediately.", valueName: "folder"))
    var page: String?

    @Flag(
        help:
            "Create the accounts alice and bobby (password apus-demo), handle the test page's events, accept Socket.IO 2.x clients."
    )
    var demo = false

    @Flag(name: .customLong("engineio3"), help: "Also accept Socket.IO 2.x clients (Engine.IO 3); --demo implies it.")
    var allowsEngineIO3 = false

    @Option(
        help:
            """
            A port for the apps of FLSocketIM (Socket.IO 2.x) and their routes; 0 selects a free port. Requires \
            --directory open. Default: none.
            """
    )
    var legacyPort: Int?

    @Flag(name: .customLong("legacy-tls"), help: "Use TLS with the server's certificate on --legacy-port.")
    var legacyUsesTLS = false

    @Option(
        help: "Accounts: open (all clients can create one), invitation (with an invitation of `apus admin invite`) or closed.",
        transform: { try choice($0) })
    var registration = ChatServerConfiguration.Registration.open

    @Option(
        help: "The users found by a search: exact (the user with exactly that account name) or open (all users, by any part of a name).",
        transform: { try choice($0) })
    var directory = ChatServerConfiguration.Directory.exactNames

    @Option(
        name: .customLong("trusted-proxy"),
        help: ArgumentHelp(
            "The address or network (10.0.0.0/8) of a reverse proxy whose X-Forwarded-For is used to limit clients by address; repeatable.",
            valueName: "network"))
    var trustedProxies: [String] = []

    @Flag(name: .customLong("forwarded"), help: "The trusted proxies write Forwarded (RFC 7239) instead of X-Forwarded-For.")
    var readsForwarded = false

    @Flag(
        name: .customLong("proxy-protocol"),
        help: "The trusted proxies begin each connection with a header of the PROXY protocol. Other connections are closed.")
    var readsProxyProtocol = false

    @Option(help: "A port of 127.0.0.1 for /metrics (Prometheus), /health and /ready; 0 selects a free port. Default: none.")
    var metricsPort: Int?

    @Option(
        help: ArgumentHelp(
            "A mailto: or https: URL for operators of push services (RFC 8292). Apple's service requires it. Default: none.",
            valueName: "url"))
    var pushContact: String?

    @Flag(
        help: "Request the public pages of links in messages, and show their titles. The sites receive the address of the server.")
    var linkPreviews = false

    @OptionGroup var messages: MessageOptions

    @OptionGroup var uploads: UploadOptions

    @OptionGroup var blobs: BlobOptions

    @OptionGroup var calls: CallOptions

    @Option(help: "Limit requests, connections and sign-ins by budgets: on or off. Off is for load tests, on loopback addresses only.")
    var limits = Switch.on

    @Option(help: "The minimum log level: trace, debug, info, notice, warning, error or critical.")
    var logLevel = "notice"

    func validate() throws {
        let ports = [
            ("--port", self.port), ("--tls-port", self.tlsPort ?? 0), ("--metrics-port", self.metricsPort ?? 0),
            ("--legacy-port", self.legacyPort ?? 0),
        ]
        for (name, port) in ports
        where !(0...65_535).contains(port) {
            throw ValidationError("\(name) must be from 0 to 65535, not \(port)")
        }
        guard (self.certificate == nil) == (self.key == nil) else {
            throw ValidationError("specify both --certificate and --key, or neither")
        }
        guard !self.legacyUsesTLS || (self.legacyPort != nil && !self.noTLS) else {
            throw ValidationError("--legacy-tls requires --legacy-port, and must not be used with --no-tls")
        }
        guard !(self.noHTTP && self.noTLS) else { throw ValidationError("--no-http and --no-tls must not be used together") }
        for (name, isGiven) in [("--forwarded", self.readsForwarded), ("--proxy-protocol", self.readsProxyProtocol)] where isGiven {
            guard !self.trustedProxies.isEmpty else { throw ValidationError("\(name) requires --trusted-proxy") }
        }
        guard !(self.readsForwarded && self.readsProxyProtocol) else {
            throw ValidationError("use only one of --forwarded and --proxy-protocol")
        }
        guard Logger.Level(rawValue: self.logLevel) != nil else {
            throw ValidationError("--log-level must be trace, debug, info, notice, warning, error or critical, not \(self.logLevel)")
        }
        do throws(ChatServerError) { try self.configuration.validate() } catch { throw ValidationError(error.message) }
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
            server: ChatServer(configuration: self.configuration, logger: Logger(label: "apus.serve")), demo: self.demo,
            expectsTLS: !self.noTLS)
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
            guard error.code == .addressInUse, let port = error.port else { throw Failure(message: error.message) }
            let option =
                port == self.port
                ? "--port" : port == self.metricsPort ? "--metrics-port" : port == self.legacyPort ? "--legacy-port" : "--tls-port"
            throw Failure(message: "port \(port) is already in use; select another one with \(option)")
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
        var configuration = ChatServerConfiguration(dataFolder: self.data, host: self.host, port: self.port, tls: tls)
        configuration.demo = self.demo
        configuration.allowsEngineIO3 = self.allowsEngineIO3
        configuration.pageFolder = self.page
        configuration.listensWithoutTLS = !self.noHTTP
        configuration.registration = self.registration
        configuration.directory = self.directory
        configuration.proxies = .init(
            networks: self.trustedProxies,
            source: self.readsProxyProtocol ? .proxyProtocol : self.readsForwarded ? .forwarded : .xForwardedFor)
        configuration.metricsPort = self.metricsPort
        configuration.legacyPort = self.legacyPort
        configuration.legacyUsesTLS = self.legacyUsesTLS
        configuration.pushContact = self.pushContact
        configuration.previewsLinks = self.linkPreviews
        configuration.hasLimits = self.limits == .on
        self.messages.configure(&configuration)
        self.uploads.configure(&configuration)
        self.blobs.configure(&configuration)
        self.calls.configure(&configuration)
        return configuration
    }

    private static let standardTLSPort = 3443
}

/// The value of an option that is `on` or `off`.
enum Switch: String, ExpressibleByArgument, CaseIterable { case on, off }

/// Parses an option whose values are a fixed set of words.
private func choice<Value: RawRepresentable<String> & CaseIterable>(_ text: String) throws -> Value {
    guard let value = Value(rawValue: text) else {
        throw ValidationError("`\(text)` must be one of: \(Value.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return value
}

/// An error that is printed as one line, without the name of its type.
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
            var lines = addresses.compactMap { $0.certificate.map { "certificate sha256 \($0)" } }
            lines += addresses.filter { !$0.isForMetrics && !$0.isLegacy }.map { "listening on \($0.url)" }
            lines += addresses.filter(\.isLegacy).map { "apps of FLSocketIM on \($0.url)" }
            lines += addresses.filter(\.isForMetrics).map { "metrics on \($0.url)/metrics" }
            if expectsTLS, !addresses.contains(where: { $0.scheme == "https" }) {
                lines.append("without TLS: the HTTPS port is in use; select another with --tls-port PORT")
            }
            if demo { lines.append("demo accounts: alice and bobby, password apus-demo") }
            // Written without buffering, because a parent process may wait for these lines.
            writeStandardOutput(Data((lines.joined(separator: "\n") + "\n").utf8))
        }
    }
}
