import ApusConnectivity
import ApusEngineIOClient
import ApusJSON
import ApusSocketIOClient
import ApusSocketIOProtocol
import ArgumentParser
import Foundation
import Logging

/// `apus connect`: talk to any Socket.IO server.
struct ConnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Talk to a Socket.IO server: send events, wait for acks, see what arrives.",
        discussion: """
            Lines are read from standard input, so scripts can be piped in; `help` at the prompt lists what to type.
            Events go to standard output, everything else to standard error. Binary data is shown as <binary 3 bytes: 01 02 03>.
            A connection that is lost is made again; an event or ack meanwhile fails at once.
            Exit: 0 done, 1 a piped line failed, 64 wrong arguments, 69 no connection, or it ended or was lost before the input ended, \
            77 refused by the server.
            """
    )

    @Argument(help: "The server: http://host:port, or https, ws, wss. A path in it is the namespace.")
    var url: String

    @Option(help: "The namespace to join, for example /chat.")
    var namespace: String?

    @Option(help: "What to show the server on joining: a JSON object, or @FILE with one (a token then stays out of the list of processes).")
    var auth: String?

    @Option(help: "polling, websocket, or auto: polling first, then WebSocket when the server offers it.")
    var transport = ConnectTransport.auto

    @Option(
        name: .customLong("engineio"),
        help: "The version of Engine.IO: 4, of Socket.IO 3.x and 4.x servers; 3, of Socket.IO 2.x servers; or auto, what the server speaks."
    )
    var version = ConnectVersion.auto

    @Option(help: ArgumentHelp("A field for every HTTP request; may be repeated.", valueName: "NAME: VALUE"))
    var header: [String] = []

    @Option(help: "The path of the Socket.IO server.")
    var path = "/socket.io/"

    @Option(help: "Seconds to wait, for the connection and for each ack.")
    var timeout = 10.0

    @Flag(help: "Do not check the server's certificate (for tests: anyone on the way can read everything).")
    var insecure = false

    func validate() throws {
        guard self.timeout > 0, self.timeout <= 86_400 else {
            throw ValidationError("--timeout is a number of seconds above 0, at most a day")
        }
        _ = try self.headers()
        _ = try self.authentication()
        if let namespace = self.namespace, !namespace.hasPrefix("/") || namespace.contains(",") {
            throw ValidationError("--namespace starts with a slash and holds no comma; for example --namespace /chat")
        }
        guard self.url.contains("://") else { throw ValidationError("\(self.url) is not a URL; did you mean http://\(self.url)?") }
    }

    func run() async throws {
        var logger = Logger(label: "apus.connect") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error
        let configuration = SocketManagerConfiguration(
            transports: self.transport.transports, version: self.version.version, path: self.path, headers: try self.headers(),
            auth: try self.authentication(),
            timeout: self.timeoutDuration, tls: self.insecure ? .insecureSkipVerification : .system)
        let manager = SocketManager(url: self.url, configuration: configuration, logger: logger)
        let session = ConnectSession(
            url: self.url, manager: manager, namespace: self.namespace ?? Self.namespace(in: self.url), timeout: self.timeoutDuration,
            version: self.version)
        let code = await session.run()
        if code != 0 { throw ExitCode(code) }
    }

    private var timeoutDuration: Duration { .milliseconds(Int64(self.timeout * 1000)) }

    private func headers() throws -> [String: String] {
        var headers: [String: String] = [:]
        for field in self.header {
            guard let colon = field.firstIndex(of: ":"), colon > field.startIndex else {
                throw ValidationError("--header \"\(field)\" has no colon; for example --header \"Cookie: a=b\"")
            }
            guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else {
                throw ValidationError("--header holds a control character")
            }
            headers[String(field[..<colon])] = String(field[field.index(after: colon)...].drop { $0 == " " })
        }
        return headers
    }

    private func authentication() throws -> SocketAuthentication {
        guard let auth = self.auth else { return .none }
        do throws(ConnectLineError) {
            var value = try ConnectLine.value(auth)
            if let bytes = value.binaryValue { value = try ConnectLine.value(String(decoding: bytes, as: UTF8.self)) }
            guard value.objectValue != nil else { throw ConnectLineError(message: "it is not an object") }
            return .value(value)
        } catch {
            throw ValidationError("--auth takes a JSON object, for example '{\"token\":\"secret\"}': \(error.message)")
        }
    }

    /// As the JavaScript client: the path of the URL is the namespace.
    static func namespace(in url: String) -> String {
        guard let scheme = url.range(of: "://"), let slash = url[scheme.upperBound...].firstIndex(of: "/") else { return "/" }
        return String(url[slash...].prefix { $0 != "?" && $0 != "#" })
    }
}

/// The choice of `--transport`.
enum ConnectTransport: String, ExpressibleByArgument, CaseIterable {
    case polling, websocket, auto

    var transports: [EngineIOClientConfiguration.Transport] {
        switch self {
        case .polling: [.polling]
        case .websocket: [.websocket]
        case .auto: [.polling, .websocket]
        }
    }
}

/// The choice of `--engineio`.
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
