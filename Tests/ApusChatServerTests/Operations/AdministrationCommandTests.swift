import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatServer

/// Commands of an operator with wrong arguments, and with texts that users chose.
@Suite("Commands of an operator", .timeLimit(.minutes(5)))
struct AdministrationCommandTests {
    private func run(_ server: RunningServer, _ words: [String]) async throws -> String {
        try await Administration.perform(words, in: server.folder)
    }

    private func error(_ server: RunningServer, _ words: [String]) async throws -> ChatError? {
        do {
            let answer = try await self.run(server, words)
            Issue.record("\(words) was performed: \(answer)")
            return nil
        } catch let error as ChatError {
            return error
        }
    }

    /// Each command with too few and too many arguments is answered by the list of commands.
    @Test func aCommandHasTheNumberOfItsArguments() async throws {
        let counts: [(String, ClosedRange<Int>)] = [
            ("accounts", 0...1), ("create", 1...1), ("disable", 1...1), ("enable", 1...1), ("delete", 1...1), ("password-code", 1...1),
            ("sessions", 1...1), ("end-sessions", 1...2), ("invite", 0...2), ("invitations", 0...0), ("revoke", 1...1),
            ("reports", 0...2), ("resolve", 1...1), ("stats", 0...0), ("check", 0...0), ("backup", 1...1), ("vacuum", 0...0),
        ]
        try await RunningServer.with { server in
            for (command, count) in counts {
                #expect(Administration.help.contains("\n\(command)") || Administration.help.hasPrefix(command), "\(command) is in the help")
                for wrong in [count.lowerBound - 1, count.upperBound + 1] where wrong >= 0 {
                    let words = [command] + (0..<wrong).map { "alice\($0)" }
                    let message = try await self.error(server, words)?.message
                    #expect(message?.contains("`\(command)` does not exist or has wrong arguments") == true, "\(words)")
                }
            }
            #expect(try await self.error(server, ["reports", "any", "1"]) != nil)
            #expect(try await self.run(server, ["accounts"]) == "")
        }
    }

    /// Wrong values name the value, and change nothing.
    @Test func wrongValuesAreNamed() async throws {
        try await RunningServer.with { server in
            _ = try await server.http.post("/api/register", RunningServer.registration)
            let session = try await self.run(server, ["sessions", "alice"])
            for command in ["create", "disable", "enable", "delete", "password-code", "sessions", "end-sessions"] {
                for name in ["", "a b", "a/b", ".a", "\u{202E}alice", String(repeating: "a", count: 33), "аlice"] {
                    let error = try await self.error(server, [command, name])
                    #expect(error?.code == .badRequest && error?.message == "`\(name)` is not a valid account name.", "\(command) \(name)")
                }
                // An account that does not exist.
                guard command != "create" else { continue }
                let message = "There is no account with this name, or it was deleted."
                #expect(try await self.error(server, [command, "nobody1"])?.message == message, "\(command)")
            }
            for words in [
                ["invite", "0"], ["invite", "-1"], ["invite", "100001"], ["invite", "x"], ["invite", "1.5"], ["invite", "1", "0"],
                ["invite", "1", "3651"], ["resolve", "0"], ["resolve", "x"], ["resolve", "9223372036854775808"], ["reports", "0"],
                ["reports", "all", "-5"],
            ] {
                let error = try await self.error(server, words)
                #expect(error?.code == .badRequest && error?.message.contains("`\(words.last ?? "")` must be a number") == true, "\(words)")
            }
            for device in ["x", "8000000000000", "2D3E4V5C6E7A8", ""] {
                #expect(try await self.error(server, ["end-sessions", "alice", device])?.message == "`\(device)` is not a device id.")
            }
            for number in ["", "a", "abc", "zzzz", "%", "ffffffff"] {
                #expect(try await self.error(server, ["revoke", number])?.code == .badRequest, "\(number)")
            }
            for path in ["copy.sqlite", "./copy.sqlite", "~/copy.sqlite", server.folder + "/chat.sqlite", "/dev/null", ""] {
                #expect(try await self.error(server, ["backup", path])?.code == .badRequest, "\(path)")
            }
            // A name has one form.
            for name in ["alice", "ALICE"] {
                #expect(
                    try await self.error(server, ["create", name])?.message.hasPrefix("Another account has this name.") == true, "\(name)")
            }
            #expect(try await self.run(server, ["accounts"]) == "alice\tactive\t")
            #expect(try await self.run(server, ["sessions", "alice"]) == session)
            #expect(try await self.run(server, ["end-sessions", "alice", "0000000000001"]) == "ended 0")
        }
    }

    /// A prefix of two invitations revokes neither of them.
    @Test func anInvitationIsRevokedByItsNumberOnly() async throws {
        try await RunningServer.with({ $0.registration = .invitation }) { server in
            for _ in 0..<3 { _ = try await self.run(server, ["invite", "2"]) }
            let numbers = try await self.run(server, ["invitations"]).split(separator: "\n").compactMap { line in
                line.split(separator: "\t").first.map(String.init)
            }
            #expect(numbers.count == 3 && Set(numbers).count == 3 && numbers.allSatisfy { $0.utf8.count == 12 })
            #expect(try await self.error(server, ["revoke", String(numbers[0].prefix(3))])?.code == .badRequest)
            #expect(try await self.run(server, ["revoke", numbers[1].uppercased()]) == "revoked")
            let left = try await self.run(server, ["invitations"]).split(separator: "\n")
            #expect(left.count == 2 && !left.contains { $0.hasPrefix(numbers[1]) })
        }
    }

    /// Users choose their nicknames, the names of devices and the texts of reports. A line of a
    /// list stays one line, and does not control the terminal.
    @Test(arguments: [
        "\u{1B}[2J\u{1B}]0;x\u{7}", "a\nroot\tactive\t", "a\r\nb", "\u{202E}drowssap", "a\u{2028}b\u{2029}c", "\u{9B}2J",
        "\u{2066}x\u{2069}",
        "\u{200F}\u{61C}a", "a\u{85}b\u{B}c\u{C}d", "\u{1B}]8;;https://evil.example\u{1B}\\<b>x</b>\u{1B}]8;;\u{7}",
        "<img src=x onerror=\"alert(1)\">\r\u{1B}[1A<script>",
    ])
    func textsOfUsersAreHarmless(text: String) async throws {
        try await RunningServer.with(makeChat: { try ServiceChat($0, $1, $2) }) { server in
            let device: JSONValue = .object(["name": .string(text), "platform": .string(String(text.prefix(9)))])
            func register(_ nick: String) async throws -> String? {
                let body: JSONValue = .object([
                    "name": "alice", "password": "correct horse battery", "device": device, "nick": .string(nick),
                ])
                return try await server.http.post("/api/register", try body.jsonString()).json()["access"]?.stringValue
            }
            // The server refuses some of the nicknames.
            var access = try await register(text)
            if access == nil { access = try await register("Alice") }
            let token = try #require(access)
            _ = try await self.run(server, ["create", "mallory"])
            let report: JSONValue = .object(["id": "r1", "user": "mallory", "reason": "spam", "text": .string(text)])
            let answer = try await server.http.post("/api/chat/report", try report.jsonString(), ["Authorization": "Bearer " + token])
            #expect(answer.status == 200)
            let lists = [(["accounts"], 2, 3), (["sessions", "alice"], 1, 5), (["reports"], 1, 8), (["reports", "all"], 1, 8)]
            for (words, lines, fields) in lists {
                let all = try await self.run(server, words)
                let list = all.replacing("\n", with: "")
                #expect(all.split(separator: "\n", omittingEmptySubsequences: false).count == lines, "\(words): \(all.debugDescription)")
                for line in all.split(separator: "\n") {
                    #expect(
                        line.split(separator: "\t", omittingEmptySubsequences: false).count == fields, "\(words): \(line.debugDescription)")
                }
                let isHarmless = list.unicodeScalars.allSatisfy {
                    $0 == "\t"
                        || !$0.properties.isBidiControl
                            && ![.control, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
                }
                #expect(isHarmless, "\(words): \(list.debugDescription)")
            }
        }
    }
}
