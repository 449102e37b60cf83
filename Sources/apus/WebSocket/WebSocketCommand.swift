import ApusCommandSupport
import ApusConnectivity
import ApusWebSocket
import ArgumentParser
import Foundation
import NIOCore
import HTTPTypes

/// `apus ws`: a client for any WebSocket server, or an echo server.
struct WebSocketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ws",
        abstract: "Connect to a WebSocket server, or run an echo server.",
        discussion: """
            apus ws wss://example.com/feed            sends typed lines; /help lists the commands
            printf 'one\\ntwo\\n' | apus ws URL        sends each line as a text; writes received messages to standard output
            apus ws --listen 127.0.0.1:9000 --tls     runs an echo server; clients use its fingerprint with --pin

            If the input is a pipe, the connection closes after the last line, when no message has arrived for the time of --close-delay. \
            With --stay, it remains open.

            Exit codes: 0 closed normally; 1 closed with an error code, or a line from a pipe failed; 64 invalid arguments; 69 no \
            connection, or the connection was lost; 77 refused by the server.
            """
    )

    @Argument(help: "The server: ws://host:port/path, or wss, http, https.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "Run an echo server at HOST:PORT, PORT (at 127.0.0.1; 0 selects a free port) or unix:PATH.", valueName: "address"))
    var listen: ListenAddress?

    @Option(help: ArgumentHelp("A header field for the request; may be repeated.", valueName: "NAME: VALUE"))
    var header: [String] = []

    @Option(help: "A subprotocol to offer, or to accept as a server; may be repeated, in order of preference.")
    var subprotocol: [String] = []

    @Flag(help: "Offer permessage-deflate, or accept it as a server.")
    var compress = false

    @OptionGroup var tlsOptions: TLSOptions

    @Option(
        help: ArgumentHelp(
            "The proxy: http://user:password@host:port, socks5://…, or none. Default: from the environment.", valueName: "url")
    )
    var proxy: String?

    @Option(help: ArgumentHelp("A Unix socket to connect to instead of the URL's host and port.", valueName: "path"))
    var unix: String?

    @Option(help: "The timeout for the connection and for each pong, in seconds.")
    var timeout = 10.0

    @Option(help: ArgumentHelp("The maximum size of a received message.", valueName: "bytes"))
    var maxMessage = 16 << 20

    @Flag(help: "Execute commands that begin with a slash even if the input is a pipe.")
    var commands = false

    @Flag(help: "Stay connected after the end of the input, until the server closes or Ctrl-C.")
    var stay = false

    @Option(help: "At the end of a pipe, close the connection if no message arrives for this time, in seconds.")
    var closeDelay = 0.3

    @Flag(name: .shortAndLong, help: "Print the kind, size and time of every message even to a pipe; as a server, log every connection.")
    var verbose = false

    @Flag(help: "As a server: use TLS, with a self-signed certificate unless --certificate and --key are specified.")
    var tls = false

    @Option(help: "As a server: a PEM file with the certificate chain.")
    var certificate: String?

    @Option(help: "As a server: a PEM file with the certificate's private key.")
    var key: String?

    func validate() throws {
        guard (self.url == nil) != (self.listen == nil) else { throw ValidationError("specify either a URL or --listen ADDRESS") }
        guard self.unix == nil || self.url != nil else {
            throw ValidationError("--unix requires a URL; to listen on a Unix socket, use --listen unix:PATH")
        }
        guard self.timeout > 0, self.timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400 seconds, not \(self.timeout)")
        }
        guard self.closeDelay >= 0, self.closeDelay <= 86_400 else {
            throw ValidationError("--close-delay must be from 0 to 86400 seconds, not \(self.closeDelay)")
        }
        guard (1...(1 << 30)).contains(self.maxMessage) else {
            throw ValidationError("--max-message must be from 1 to \(1 << 30) bytes, not \(self.maxMessage)")
        }
        guard (self.certificate == nil) == (self.key == nil) else {
            throw ValidationError("specify both --certificate and --key, or neither")
        }
        guard self.url != nil || !self.tlsOptions.isGiven else {
            throw ValidationError("--pin, --ca and --insecure require a URL; a server uses --certificate and --key")
        }
        if case .unix = self.listen, self.hasTLS {
            throw ValidationError("TLS is not supported on a Unix socket; omit --tls and --certificate")
        }
        _ = try self.headers()
        _ = try self.proxySettings()
        if let url = self.url { try Self.check(url) }
    }

    func run() async throws {
        if let address = self.listen { return try await self.runServer(at: address) }
        guard let url = self.url else { return }
        let code = await self.runClient(url)
        if code != 0 { throw ExitCode(code) }
    }

    // MARK: Arguments

    private static func check(_ url: String) throws {
        guard url.contains("://") else { throw ValidationError("\(url) is not a URL; for example, use ws://\(url)") }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["ws", "wss", "http", "https"].contains(scheme) else {
            throw ValidationError("\(url) must begin with ws://, wss://, http:// or https://")
        }
    }

    func headers() throws -> HTTPFields { try HTTPFields(options: self.header) }

    func proxySettings() throws -> ProxySettings {
        guard let proxy = self.proxy else { return .environment }
        guard proxy != "none" else { return .none }
        do throws(ConnectivityError) {
            return try ProxySettings(url: proxy)
        } catch {
            throw ValidationError("--proxy must be http://user:password@host:port, socks5://… or none: \(error.message)")
        }
    }

    var timeoutDuration: Duration { .milliseconds(Int64(self.timeout * 1000)) }
}
