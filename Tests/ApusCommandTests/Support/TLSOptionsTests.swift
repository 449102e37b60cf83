import ApusCommandSupport
import ApusConnectivity
import ArgumentParser
import Foundation
import Testing

@testable import apus

@Suite struct TLSOptionsTests {
    private static let fingerprint = String(repeating: "ab", count: 32)
    /// A readable file in place of a file with certificates.
    private let file = #filePath

    /// The commands that take the TLS options, with their required arguments.
    private static let commands: [[String]] = [
        ["ws", "wss://localhost/"], ["connect", "https://localhost"], ["chat", "--server", "https://localhost", "--user", "alice"],
        ["send", "a", "localhost:1"], ["bench", "ws", "wss://localhost/"], ["bench", "socketio", "https://localhost"],
        ["bench", "chat", "https://localhost"],
    ]

    @Test(arguments: commands) func everyClientTakesTheSameOptions(command: [String]) throws {
        for options in [[], ["--pin", Self.fingerprint], ["--ca", self.file], ["--insecure"]] {
            #expect(throws: Never.self) { try Apus.parseAsRoot(command + options) }
        }
        for options in [
            ["--pin", "abc"], ["--ca", "/nonexistent"], ["--pin", Self.fingerprint, "--insecure"], ["--ca", self.file, "--insecure"],
            ["--ca", self.file, "--pin", Self.fingerprint], ["--fingerprint", Self.fingerprint], ["--insecure-pin", Self.fingerprint],
            ["--insecure-skip-verification"],
        ] {
            #expect(throws: (any Error).self) { try Apus.parseAsRoot(command + options) }
        }
    }

    @Test func theOptionsSelectTheSettings() throws {
        let fingerprint = try #require(CertificateFingerprint(Self.fingerprint))
        #expect(try TLSOptions.parse([]).settings() == .system)
        #expect(try TLSOptions.parse(["--pin", Self.fingerprint]).settings() == .pinned(fingerprint))
        #expect(
            try TLSOptions.parse(["--ca", self.file]).settings()
                == .trusting(authoritiesPEM: try String(contentsOfFile: self.file, encoding: .utf8)))
        #expect(try TLSOptions.parse(["--insecure"]).settings() == .insecureSkipVerification)
    }

    @Test func aServerTakesNoOptionsOfAClient() {
        for options in [["--insecure"], ["--pin", Self.fingerprint]] {
            #expect(throws: (any Error).self) { try Apus.parseAsRoot(["ws", "--listen", "0"] + options) }
            #expect(throws: (any Error).self) { try Apus.parseAsRoot(["send", "a", "unix:/tmp/x"] + options) }
        }
    }
}
