import ApusCommandSupport
import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ArgumentParser
import Foundation
import Logging
import HTTPTypes

/// `apus connect`: a client for any Socket.IO server.
struct ConnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Connect to a Socket.IO server: send events, wait for acks, print received events.",
        discussion: """
            Commands are read from standard input, one per line; `help` lists them. Received events are written to standard output, all \
            other text to standard error. Binary data is shown as <binary 3 bytes: 01 02 03>. The command reconnects after a lost \
            connection; until then, sending an event fails immediately.

            Exit codes: 0 success; 1 a line from a pipe failed; 64 invalid arguments; 69 no connection, or the connection was lost before \
            the end of the input; 77 refused by the server.
            """
    )

    @Argument(help: "The server: http://host:port, or https, ws, wss. The path of the URL is the namespace.")
    var url: String

    @Option(help: "The namespace to join, for example /chat.")
    var namespace: String?

    @Option(help: "The auth payload to send on joining: a JSON object, or @FILE, which hides a token from the process list.")
    var auth: String?

    @Option(help: "polling, websocket, or auto: polling first, then WebSocket if the server offers it.")
    var transport = ConnectTransport.auto

    @Option(
        name: .customLong("engineio"),
        help: "The Engine.IO version: 4 for Socket.IO 3.x and 4.x servers, 3 for Socket.IO 2.x servers, or auto."
    )
    var version = ConnectVersion.auto

    @Option(help: ArgumentHelp("A header field for every HTTP request; may be repeated.", valueName: "NAME: VALUE"))
    var header: [String] = []

    @Option(help: "The path of the Socket.IO server.")
    var path = "/socket.io/"

    @Option(help: "The timeout for the connection and for each ack, in seconds.")
    var timeout = 10.0

    @OptionGroup var tlsOptions: TLSOptions

    func validate() throws {
        guard self.timeout > 0, self.timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400 seconds, not \(self.timeout)")
        }
        _ = try self.headers()
        _ = try self.authentication()
        if let namespace = self.namespace, !namespace.hasPrefix("/") || namespace.contains(",") {
            throw ValidationError("--namespace must begin with a slash and must not contain a comma; for example --namespace /chat")
        }
        guard self.url.contains("://") else { throw ValidationError("\(self.url) is not a URL; for example, use http://\(self.url)") }
    }

    func run() async throws {
        var logger = Logger(label: "apus.connect") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let configuration = SocketIOManagerConfiguration(
            transports: self.transport.transports, version: self.version.version, path: self.path, headers: try self.headers(),
            auth: try self.authentication(),
            timeout: self.timeoutDuration, tls: try self.tlsOptions.settings())
        let manager = SocketIOManager(url: self.url, configuration: configuration, logger: logger)
        let session = ConnectSession(
            url: self.url, manager: manager, namespace: self.namespace ?? Self.namespace(in: self.url), timeout: self.timeoutDuration,
            version: self.version)
        let code = await session.run()
        if code != 0 { throw ExitCode(code) }
    }

    private var timeoutDuration: Duration { .milliseconds(Int64(self.timeout * 1000)) }

    private func headers() throws -> HTTPFields { try HTTPFields(options: self.header) }

    private func authentication() throws -> SocketIOClientAuthentication {
        guard let auth = self.auth else { return .none }
        do throws(ConnectLineError) {
            var value = try ConnectLine.value(auth)
            if let bytes = value.binaryValue { value = try ConnectLine.value(String(decoding: bytes, as: UTF8.self)) }
            guard value.objectValue != nil else { throw ConnectLineError(message: "the value is not an object") }
            return .value(value)
        } catch {
            throw ValidationError("--auth must be a JSON object, for example '{\"token\":\"secret\"}': \(error.message)")
        }
    }

    /// Returns the path of a URL. It is the namespace, as in the JavaScript client.
    static func namespace(in url: String) -> String {
        guard let scheme = url.range(of: "://"), let slash = url[scheme.upperBound...].firstIndex(of: "/") else { return "/" }
        return String(url[slash...].prefix { $0 != "?" && $0 != "#" })
    }
}

/// The value of `--transport`.
enum ConnectTransport: String, ExpressibleByArgument, CaseIterable {
    case polling, webSocket = "websocket", auto

    var transports: [EngineIOTransport] {
        switch self {
        case .polling: [.polling]
        case .webSocket: [.webSocket]
        case .auto: [.polling, .webSocket]
        }
    }
}

/// The value of `--engineio`.
enum ConnectVersion: String, ExpressibleByArgument, CaseIterable {
    case auto
    case three = "3"
    case four = "4"

    var version: EngineIOClientConfiguration.ProtocolVersion {
        switch self {
        case .auto: .automatic
        case .three: .v3
        case .four: .v4
        }
    }
}
