import ApusChatProtocol
import ApusChatReference
import ApusChatTerminal
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// Commands with too few, too many and wrong arguments. A command that is not performed as typed
/// sends nothing.
@MainActor @Suite("Arguments of commands", .timeLimit(.minutes(5)))
struct ChatCommanderArgumentTests {
    /// Performs lines and checks that each is answered by one line, and that no request changed
    /// anything.
    private func refuse(_ lines: [(line: String, told: String)]) async throws {
        let fixture = try await CommandFixture()
        for (line, message) in lines {
            await fixture.perform(line)
            let told = fixture.told()
            #expect(told.count == 1 && told[0].hasPrefix(message), "\(line): \(told)")
        }
        for verb in ChatReference.verbs where verb.isChanging {
            #expect(fixture.server.count(of: verb.name) == 0, "\(verb.name)")
        }
        #expect(fixture.host.shown.isEmpty && fixture.host.threads.isEmpty && fixture.host.openedFiles.isEmpty)
        await fixture.end()
    }

    /// `/leave bob` does not leave, and `/discard #3` does not discard every unsent message.
    @Test func commandsWithoutArgumentsTakeNone() async throws {
        let commands: [ChatCommandName] = [
            .archived, .notes, .pins, .scheduled, .retry, .discard, .banned, .leave, .unmute, .top, .untop, .archive, .unarchive, .unread,
            .info, .links, .contacts, .blocked, .requests, .sessions,
        ]
        try await self.refuse(
            commands.flatMap { name in
                ["bob", "#3", "now please", "\u{1B}[2J"].map { words in
                    ("/\(name) \(words)", "/\(name) has no arguments, not \"")
                }
            })
    }

    /// A command for messages takes their numbers in one word. The rest is not ignored.
    @Test func numbersOfMessagesAreOneWord() async throws {
        let commands = ["versions", "unpreview", "recall", "hide", "reactions", "readers", "pin", "unpin", "view", "votes", "closepoll"]
        try await self.refuse(
            commands.flatMap { command in
                ["#1 #2", "#1, #2", "#2 now", "#1 - #3", "#+1", "#1-+2", "#１"].map { words in
                    ("/\(command) \(words)", "/\(command) [#N]: ")
                }
            })
    }

    @Test func commandsForOneUserTakeOneName() async throws {
        try await self.refuse(
            ["unban", "unsilence", "reject", "uncontact", "block", "unblock"].flatMap { command in
                [
                    ("/\(command) bob carol", "/\(command) NAME: one name is expected, not \"bob carol\""),
                    ("/\(command) @bob, @carol", "/\(command) NAME: one name is expected, not \"@bob, @carol\""),
                    ("/\(command)", "/\(command) NAME: the name is missing"), ("/\(command) @", "\"\" is not a user name"),
                    ("/\(command) b/b", "\"b/b\" is not a user name"), ("/\(command) \u{202E}bob", "\"\u{FFFD}bob\" is not a user name"),
                ]
            } + [("/approve bob carol", "/approve [NAME]: one name is expected")])
    }

    @Test func choicesAreSpelledInFull() async throws {
        try await self.refuse([
            ("/delete al", "/delete [all]: \"al\" is not valid"), ("/delete ALL", "/delete [all]: \"ALL\" is not valid"),
            ("/delete all now", "/delete [all]: \"all now\" is not valid"), ("/folders remove Work", "/folders [delete NAME]: "),
            ("/folders delet Work", "/folders [delete NAME]: "), ("/folders delete Work", "there is no folder \"Work\""),
            ("/folders delete", "there is no folder \"\""), ("/write member", "/write members|admins: \"member\" is not valid"),
            ("/write members admins", "/write members|admins: "), ("/joining Open", "/joining open|approval|closed: "),
            ("/listed YES", "/listed yes|no: "), ("/listed yes no", "/listed yes|no: "), ("/role bob", "/role NAME ROLE: the roles are "),
            ("/role bob Admin", "/role NAME ROLE: the roles are "), ("/role bob admin x", "/role NAME ROLE: the roles are "),
            ("/role bob unknown", "/role NAME ROLE: the roles are "), ("/mute mention", "the number of hours must be "),
            ("/report bob", "/report [#N|NAME|chat] REASON [TEXT]: the reasons are "),
            ("/report #1 unknown", "/report [#N|NAME|chat] REASON [TEXT]: the reasons are "),
            ("/report chat rude", "/report [#N|NAME|chat] REASON [TEXT]: the reasons are "),
            ("/signout other", "\"other\" is not a number"),
            ("/signout others now", "\"others now\" is not a number"),
        ])
    }

    /// Numbers are ASCII digits: no sign, no fraction, no exponent, no other digits.
    @Test func numbersAreDigits() async throws {
        let hours = "the number of hours must be from 1 to 87600, not "
        var lines: [(String, String)] = []
        for wrong in ["+1", "-1", "1.5", "1e2", "0x1", "１", "٣", "1x", "0", "87601", "99999999999999999999"] {
            lines += ["/ban bob \(wrong)", "/silence bob \(wrong)", "/mute \(wrong)", "/link \(wrong)"].map { ($0, hours) }
        }
        for wrong in ["+2", "-2", "0", "2.0", "２", "two"] {
            lines.append(("/link 24 \(wrong)", "the number of uses must be greater than 0"))
        }
        lines.append(("/link 24 2 3", "/link [HOURS] [USES] [ROLE] [approval]: \"24 2 3\" is not valid"))
        for wrong in ["+1", "-1", "1.0", "１", "3"] { lines.append(("/vote #3 \(wrong)", "the numbers of the options must be from 1 to 2")) }
        for wrong in ["-5", "+5", "5x", "1.5", "", "５", "100000001"] where !wrong.isEmpty {
            lines += ["/slow \(wrong)", "/expire \(wrong)"].map { ($0, String($0.prefix(5))) }
        }
        for wrong in [
            "22:00", "22 07", "+22:00 07:00", "22:00 +7:00", "24:00 07:00", "22:60 07:00", "22:00 22:00", "22:00 07:00 08:00", "on",
        ] {
            lines.append(("/quiet \(wrong)", "/quiet [FROM UNTIL|off]: two times are required"))
        }
        for wrong in ["++5m", "+-5m", "+5:00", "+9:00", "9:+5", "2026-+1-01T10:00", "2026-01-+1T10:00", "-1", "１８:00"] {
            lines.append(("/schedule \(wrong) text", "/schedule TIME TEXT: \""))
        }
        try await self.refuse(lines)
    }

    /// A command reports a missing argument before it sends a request.
    @Test func missingArgumentsAreNamed() async throws {
        let commands = ChatCommandName.allCases.filter { ![.jump, .open, .users, .search, .export].contains($0) }
        var lines: [(String, String)] = []
        for command in commands {
            switch ChatLine("/\(command)") {
            case .mistake(let words): lines.append(("/\(command)", words))
            default: continue
            }
        }
        #expect(lines.count > 30)
        try await self.refuse(lines + [("/jump", "/jump #N: the number is missing"), ("/jump #1,#2", "/jump #N: the number is missing")])
    }

    /// The same arguments without the mistake are performed.
    @Test func theRightArgumentsAreSent() async throws {
        let fixture = try await CommandFixture()
        for (line, verb, request) in [
            ("/unban @bob", "member.unban", ["users": ["bob"]]), ("/unblock bob", "unblock", ["user": "bob"]),
            ("/hide #1,#2", "hide", ["seqs": [1, 2]]), ("/pin #1", "pin", ["ref": 1]),
            ("/delete all", "conversation.delete", ["for_all": true]),
            ("/leave", "member.leave", [:]), ("/vote #3 02", "vote", ["ref": 3, "options": [1]]),
            ("/ban bob 08", "member.ban", ["users": ["bob"], "until": .integer(CommandFixture.now + 8 * 3_600_000)]),
        ] as [(String, String, JSONValue)] {
            let before = fixture.server.count(of: verb)
            await fixture.perform(line)
            try await eventually { fixture.server.count(of: verb) > before }
            #expect(fixture.request(verb) == request, "\(line)")
        }
        await fixture.end()
    }
}
