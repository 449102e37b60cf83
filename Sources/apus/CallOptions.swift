import ApusChatServer
import ArgumentParser
import Foundation

/// The options of `apus serve` for calls.
struct CallOptions: ParsableArguments {
    @Option(
        name: .customLong("turn-url"),
        help: ArgumentHelp(
            "A STUN or TURN server for calls: stun:HOST, turn:HOST:PORT or turns:HOST:PORT?transport=tcp; repeatable.", valueName: "url"))
    var urls: [String] = []

    @Option(
        name: .customLong("turn-secret-file"),
        help: ArgumentHelp("A file with the secret that the TURN servers share (coturn: static-auth-secret).", valueName: "path"))
    var secretFile: String?

    @Flag(
        name: .customLong("relay-only-calls"),
        help: "Calls use the TURN servers only: members of a call do not learn each other's addresses.")
    var isRelayOnly = false

    func validate() throws {
        guard let path = self.secretFile, self.secret == nil else { return }
        throw ValidationError("--turn-secret-file: \(path) cannot be read, or has no secret in its first line")
    }

    func configure(_ configuration: inout ChatServerConfiguration) {
        configuration.calls = .init(urls: self.urls, secret: self.secret, isRelayOnly: self.isRelayOnly)
    }

    /// The first line of the file; nil if it is empty or cannot be read.
    private var secret: String? {
        guard let path = self.secretFile, let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let line = text.prefix { !$0.isNewline }
        return line.isEmpty ? nil : String(line)
    }
}
