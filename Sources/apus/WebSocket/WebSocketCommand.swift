import ApusConnectivity
import ApusWebSocket
import ArgumentParser
import Foundation
import NIOCore

/// `apus ws`: talk to any WebSocket server, or be one that echoes.
struct WebSocketCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ws",
        abstract: "Talk to a WebSocket server, or be one that echoes.",
        discussion: """
            apus ws wss://example.com/feed            type lines to send; /help lists the commands
            printf 'one\\ntwo\\n' | apus ws URL        each line is a text; what comes goes to standard output
            apus ws --listen 127.0.0.1:9000 --tls     echo, with a certificate whose fingerprint --insecure-pin takes

            In a pipe the connection closes when the last line is sent and nothing comes any more, or stays with --stay.
            Exit: 0 closed in order, 1 closed with an error code or a piped line failed, 64 wrong arguments,
            69 no connection or lost, 77 refused by the server.
            """
    )

    @Argument(help: "The server: ws://host:port/path, or wss, http, https.")
    var url: String?

    @Option(
        help: ArgumentHelp(
            "Be an echo server instead: HOST:PORT, PORT (of 127.0.0.1; 0 takes a free one) or unix:PATH.", valueName: "address"))
    var listen: ListenAddress?

    @Option(help: ArgumentHelp("A field for the request; may be repeated.", valueName: "NAME: VALUE"))
    var header: [String] = []

    @Option(help: "A subprotocol to offer, or to speak as a server; may be repeated, best first.")
    var subprotocol: [String] = []

    @Flag(help: "Offer permessage-deflate, or accept it as a server.")
    var compress = false

    @Option(
        help: ArgumentHelp(
            "The SHA-256 fingerprint of the one certificate to accept, whoever signed it and whatever its name.", valueName: "sha256"))
    var insecurePin: String?

    @Option(help: ArgumentHelp("A PEM file with authorities to trust beside the system's.", valueName: "file"))
    var ca: String?

    @Option(
        help: ArgumentHelp("http://user:password@host:port (CONNECT), socks5://…, or none; without it the environment's.", valueName: "url")
    )
    var proxy: String?

    @Option(help: ArgumentHelp("A Unix socket to connect to in place of the URL's host and port.", valueName: "path"))
    var unix: String?

    @Option(help: "Seconds to wait, for the connection and for each pong.")
    var timeout = 10.0

    @Option(help: ArgumentHelp("The largest message taken.", valueName: "bytes"))
    var maxMessage = 16 << 20

    @Flag(help: "Obey commands behind a slash also in a pipe.")
    var commands = false

    @Flag(help: "Stay when the input ends, until the server closes or Ctrl-C.")
    var stay = false

    @Option(help: "Seconds without a message, after the last line of a pipe, before the connection closes.")
    var linger = 0.3

    @Flag(name: .shortAndLong, help: "Describe every message (kind, size, time) also in a pipe; as a server, every connection.")
    var verbose = false

    @Flag(help: "As a server: TLS, with a certificate made at the start unless --certificate and --key are given.")
    var tls = false

    @Option(help: "As a server: a PEM file with the certificate chain.")
    var certificate: String?

    @Option(help: "As a server: a PEM file with the certificate's key.")
    var key: String?

    func validate() throws {
        guard (self.url == nil) != (self.listen == nil) else { throw ValidationError("give a URL to talk to, or --listen ADDRESS to echo") }
        guard self.unix == nil || self.url != nil else {
            throw ValidationError("--unix goes with a URL; to listen there: --listen unix:PATH")
        }
        guard self.timeout > 0, self.timeout <= 86_400 else {
            throw ValidationError("--timeout is a number of seconds above 0, at most a day")
        }
        guard self.linger >= 0, self.linger <= 86_400 else { throw ValidationError("--linger is a number of seconds, at most a day") }
        guard (1...(1 << 30)).contains(self.maxMessage) else { throw ValidationError("--max-message is from 1 to \(1 << 30) bytes") }
        guard (self.certificate == nil) == (self.key == nil) else { throw ValidationError("give both --certificate and --key, or neither") }
        guard self.insecurePin == nil || self.ca == nil else {
            throw ValidationError("--insecure-pin does not look at authorities; leave --ca out")
        }
        if case .unix = self.listen, self.hasTLS {
            throw ValidationError("a Unix socket has no TLS here; leave --tls and --certificate out")
        }
        _ = try self.headers()
        _ = try self.fingerprint()
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
        guard url.contains("://") else { throw ValidationError("\(url) is not a URL; did you mean ws://\(url)?") }
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard ["ws", "wss", "http", "https"].contains(scheme) else { throw ValidationError("\(url) is neither ws:// nor wss://") }
    }

    func headers() throws -> [(String, String)] {
        try self.header.map { field in
            guard let colon = field.firstIndex(of: ":"), colon > field.startIndex else {
                throw ValidationError("--header \"\(field)\" has no colon; for example --header \"Cookie: a=b\"")
            }
            guard !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else {
                throw ValidationError("--header holds a control character")
            }
            return (String(field[..<colon]), String(field[field.index(after: colon)...].drop { $0 == " " }))
        }
    }

    func fingerprint() throws -> CertificateFingerprint? {
        guard let text = self.insecurePin else { return nil }
        guard let fingerprint = CertificateFingerprint(text) else {
            throw ValidationError("--insecure-pin takes 64 hexadecimal digits, as apus ws --listen --tls prints them")
        }
        return fingerprint
    }

    func proxySettings() throws -> ProxySettings {
        guard let proxy = self.proxy else { return .environment }
        guard proxy != "none" else { return .none }
        do throws(ConnectivityError) {
            return try ProxySettings(url: proxy)
        } catch {
            throw ValidationError("--proxy takes http://user:password@host:port, socks5://… or none: \(error.message)")
        }
    }

    var timeoutDuration: Duration { .milliseconds(Int64(self.timeout * 1000)) }
}
