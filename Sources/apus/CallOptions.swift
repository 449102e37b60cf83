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
        help: "Use only the TURN servers for calls, so that members of a call do not receive each other's addresses.")
    var isRelayOnly = false

    @Option(
        name: .customLong("livekit-url"),
        help: ArgumentHelp("A LiveKit server for calls of groups with more than four members: wss://HOST.", valueName: "url"))
    var liveKitURL: String?

    @Option(
        name: .customLong("livekit-keys-file"),
        help: ArgumentHelp("A file whose first line is a key of the LiveKit server and its secret: KEY: SECRET.", valueName: "path"))
    var liveKitKeysFile: String?

    func validate() throws {
        if let path = self.secretFile, Self.firstLine(path) == nil {
            throw ValidationError("--turn-secret-file: \(path) cannot be read, or has no secret in its first line")
        }
        guard (self.liveKitURL == nil) == (self.liveKitKeysFile == nil) else {
            throw ValidationError("--livekit-url and --livekit-keys-file must be used together")
        }
        if let path = self.liveKitKeysFile, self.liveKit == nil {
            throw ValidationError("--livekit-keys-file: \(path) cannot be read, or its first line is not KEY: SECRET")
        }
    }

    func configure(_ configuration: inout ChatServerConfiguration) {
        configuration.calls = .init(
            urls: self.urls, secret: self.secretFile.flatMap(Self.firstLine), isRelayOnly: self.isRelayOnly, liveKit: self.liveKit)
    }

    private var liveKit: ChatServerConfiguration.Calls.LiveKit? {
        guard let url = self.liveKitURL, let line = self.liveKitKeysFile.flatMap(Self.firstLine), let colon = line.firstIndex(of: ":")
        else { return nil }
        let key = line[..<colon].trimmingCharacters(in: .whitespaces)
        let secret = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        guard !key.isEmpty, !secret.isEmpty else { return nil }
        return ChatServerConfiguration.Calls.LiveKit(url: url, key: key, secret: secret)
    }

    /// Returns the first line of a file; nil if it is empty or cannot be read.
    private static func firstLine(_ path: String) -> String? {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else { return nil }
        let line = text.prefix { !$0.isNewline }
        return line.isEmpty ? nil : String(line)
    }
}
