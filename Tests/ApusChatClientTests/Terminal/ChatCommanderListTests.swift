import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// Commands that list, and commands that refer to what a list or the screen shows.
@MainActor @Suite("Lists of commands", .timeLimit(.minutes(5)))
struct ChatCommanderListTests {
    // MARK: Numbers

    /// A number that no list has is not a number of an entry, whatever its size.
    @Test(arguments: [
        "0", "-1", "2", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.0", "+", "１",
    ])
    func aNumberOutsideOfTheListNamesNothing(number: String) async throws {
        try await CommandFixture.with { fixture in
            fixture.server.script("people", ["users": []])
            for verb in ["conversation.open", "member.join"] { fixture.server.script(verb, ChatError(.notFound, message: "no").json) }
            fixture.commander.listed = [fixture.pair]
            for line in ["/directory", "/sessions", "/scheduled"] { await fixture.perform(line) }
            _ = fixture.told()
            let expected = [
                "/open": "there is no user named \(number)",
                // A code can consist of digits.
                "/join": LinkCode(number) == nil
                    ? "\"\(number)\" is neither the code of a link nor a number in the list of /directory" : "no",
                "/signout": "\"\(number)\" is not a number in the list of /sessions",
                "/unschedule": "\"\(number)\" is not a number in the list of /scheduled",
                "/accept": "there is no request from \(number); /requests lists them",
            ]
            for (command, words) in expected {
                await fixture.perform("\(command) \(number)")
                #expect(fixture.told() == [words], "\(command)")
            }
            #expect(fixture.host.shown.isEmpty)
            for verb in ["device.remove", "unschedule", "contact.answer"] {
                #expect(fixture.server.count(of: verb) == 0, "\(verb)")
            }
        }
    }

    /// A mistyped number of a message does not make the command apply to the last message.
    @Test(arguments: ["unpreview", "recall", "hide", "reactions", "readers", "pin", "unpin", "view", "votes", "closepoll"])
    func aMistypedMessageIsNotTheLastOne(command: String) async throws {
        try await CommandFixture.with { fixture in
            fixture.host.selectedSeq = 2
            for words in ["1", "#0", "#1x", "#", "all", "#1-#500", "\u{1B}[2J"] {
                await fixture.perform("/\(command) \(words)")
                let shown = words.replacing("\u{1B}", with: "\u{FFFD}")
                #expect(fixture.told() == ["/\(command) [#N]: \"\(shown)\" is not the number of a message, such as #17"])
            }
            for verb in ["preview.remove", "recall", "hide", "reactions", "readers", "pin", "votes", "poll.close"] {
                #expect(fixture.server.count(of: verb) == 0, "\(verb)")
            }
        }
    }

    @Test(arguments: ["/vote #3 ,", "/vote #3 ,,", "/vote #3 0,0", "/vote #3 -1", "/vote #3 9223372036854775808", "/vote #3 1 3"])
    func aMistypedVoteWithdrawsNothing(line: String) async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform(line)
            #expect(fixture.told() == ["the numbers of the options must be from 1 to 2"])
            #expect(fixture.server.count(of: "vote") == 0)
        }
    }

    // MARK: Pages

    /// A server that repeats a page, or sends empty ones, does not keep a command running.
    @Test func listsOfABrokenServerEnd() async throws {
        try await CommandFixture.with { fixture in
            let before = fixture.server.count(of: "contacts")
            fixture.server.script("contacts", ["contacts": [], "page": "p"])
            await fixture.perform("/contacts")
            #expect(fixture.told() == ["No contacts."] && fixture.server.count(of: "contacts") == before + 1)
            fixture.server.script("scheduled", ["scheduled": [], "page": "p"])
            await fixture.perform("/scheduled")
            #expect(fixture.told() == ["No message is scheduled.", "More messages are scheduled."])
            #expect(fixture.server.count(of: "scheduled") == 1)
            let users: [JSONValue] = (1...50).map { ["user": ["name": .string("user\($0)")], "state": "blocked", "at": 1] }
            fixture.server.script("contacts", ["contacts": .array(users), "page": "p"])
            await fixture.perform("/blocked")
            let told = fixture.told()
            #expect(told.count == 501 && told.first == "user1  " && told.last == "The list has more users.")
        }
    }

    @Test func contactsOfAllPagesAreListed() async throws {
        try await CommandFixture.with { fixture in
            func page(_ names: [String], next: String?) -> JSONValue {
                let rows: [JSONValue] = names.map { ["user": ["name": .string($0), "online": true], "state": "friend", "at": 1] }
                var answer: JSONObject = ["contacts": .array(rows)]
                if let next { answer["page"] = .string(next) }
                return .object(answer)
            }
            fixture.server.script("contacts", page(["ann", "ben"], next: "p2"), page(["cleo"], next: nil))
            await fixture.perform("/contacts")
            #expect(fixture.host.said.map(\.command) == ["/open ann", "/open ben", "/open cleo"])
            #expect(fixture.told() == ["ann    online", "ben    online", "cleo    online"])
            #expect(fixture.server.requests(of: "contacts").last?["page"]?.stringValue == "p2")
        }
    }

    // MARK: What is shown

    @Test func theDetailsOfAConversationAreShown() async throws {
        try await CommandFixture.with { fixture in
            let settings: JSONObject = [
                "write": "admins", "invite": "members", "manage": "admins", "pin": "admins", "mention_all": "admins", "join": "approval",
                "listed": true, "history": "all", "slow": 90, "expire": 604_800, "receipts": true,
            ]
            let head: JSONObject = [
                "conv": .string(fixture.group.rawValue), "kind": "group", "role": "owner", "title": "Club\u{1B}[2J", "members": 3,
                "members_version": 1, "settings": .object(settings), "seq": 3, "n": 3, "at": 1,
            ]
            fixture.server.script(
                "conversation.info",
                ["head": .object(head), "about": "two\nlines", "created_at": .integer(CommandFixture.now), "by": "bob"])
            await fixture.perform("/info")
            #expect(fixture.host.said.first?.style == .bold)
            #expect(
                fixture.told() == [
                    "Club\u{FFFD}[2J  (group, 3 members, you are owner)", "two\n    lines", "created 11:30 by @bob",
                    "write: admins  join: approval  listed: yes",
                    "invite: members  manage: admins  pin: admins  mention_all: admins  history: all  receipts: yes",
                    "slow: one message in 90 s", "messages disappear after 7 d",
                ])
            let peer: JSONObject = ["name": "bob", "status": "At sea", "last_seen": .integer(CommandFixture.now - 86_400_000)]
            for (isOnline, line) in [(false, "seen Mon 2026-11-23 11:30"), (true, "online")] {
                var user = peer
                user["online"] = .bool(isOnline)
                fixture.server.script(
                    "conversation.info",
                    [
                        "head": ["conv": .string(fixture.pair.rawValue), "kind": "pair", "peer": .object(user), "seq": 1, "n": 1, "at": 1],
                        "created_at": 0,
                    ])
                await fixture.perform("/info")
                #expect(fixture.told() == ["bob", "@bob  “At sea”", line, "created Thu 1970-01-01 00:00"])
            }
        }
    }

    @Test func quietHoursAreReported() async throws {
        try await CommandFixture.with { fixture in
            let cases: [(JSONObject, String)] = [
                (["quiet_from": 1_320, "quiet_until": 450], "No notifications from 22:00 to 07:30."),
                (["quiet_from": 0, "quiet_until": 1_439], "No notifications from 00:00 to 23:59."),
                ([:], "No quiet hours. /quiet 22:00 07:00 sets them."),
                (["quiet_from": 1_320], "No quiet hours. /quiet 22:00 07:00 sets them."),
            ]
            for (settings, words) in cases {
                fixture.server.script("settings", ["settings": .object(settings)])
                await fixture.perform("/quiet")
                #expect(fixture.told() == [words])
            }
            for line in ["/quiet 22:00", "/quiet 22:00 22:00", "/quiet 24:00 07:00", "/quiet 22:00 07:00 08:00", "/quiet x y"] {
                await fixture.perform(line)
                #expect(fixture.told() == ["/quiet [FROM UNTIL|off]: two times are required, such as 22:00 07:00"], "\(line)")
            }
            #expect(fixture.server.count(of: "settings.set") == 0)
        }
    }

    @Test func theShownNameIsReported() async throws {
        try await CommandFixture.with { fixture in
            await fixture.perform("/nick")
            #expect(fixture.told() == ["You are shown as alice; /nick NAME changes it, /nick - removes it."])
            #expect(fixture.server.count(of: "profile.set") == 0)
        }
    }

    @Test func anExportReplacesNoFile() async throws {
        try await CommandFixture.with { fixture in
            let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
            defer { try? FileManager.default.removeItem(atPath: path) }
            await fixture.perform("/export \(path)")
            #expect(fixture.told() == ["The data was written to \(path)."])
            #expect(FileManager.default.contents(atPath: path) == Data([4, 5, 6]))
            try Data([9]).write(to: URL(fileURLWithPath: path))
            await fixture.perform("/export \(path)")
            #expect(fixture.told() == ["the file \(path) already exists; name a new file"])
            #expect(FileManager.default.contents(atPath: path) == Data([9]))
        }
    }

    @Test func votesHaveTheirNames() async throws {
        try await CommandFixture.with { fixture in
            /// Answers with the log after the poll: a vote of each row, from seq 4 on.
            func script(_ votes: [(String, JSONValue)]) {
                let events = votes.enumerated().map { index, vote -> JSONValue in
                    [
                        "conv": .string(fixture.group.rawValue), "seq": .integer(Int64(index) + 4), "sender": .string(vote.0), "at": 1,
                        "kind": "vote", "ref": 3, "body": ["options": vote.1],
                    ]
                }
                let poll: JSONValue = [
                    "conv": .string(fixture.group.rawValue), "seq": 3, "n": 3, "sender": "alice", "at": 1, "kind": "poll",
                ]
                fixture.server.script(
                    "history",
                    [
                        "conv": .string(fixture.group.rawValue), "events": .array([poll] + events), "seq": .integer(Int64(votes.count) + 3),
                        "min_seq": 1,
                    ])
            }
            // The newest vote of a user counts. An option that the poll does not have is not shown.
            script([("bob", [0]), ("carol", [1]), ("bob", [1, 7]), ("carol", []), ("alice", [0, 1])])
            await fixture.perform("/votes")
            #expect(fixture.told() == ["you: Mon, Tue", "@bob: Tue"])
            script([])
            await fixture.perform("/votes #3")
            #expect(fixture.told() == ["No votes."])
            await fixture.perform("/votes #1")
            #expect(fixture.told() == ["message #1 is not a poll"])
            await fixture.perform("/votes #99")
            #expect(fixture.told() == ["there is no message #99"])
            fixture.host.shownRows[2].event.body["anonymous"] = true
            await fixture.perform("/votes")
            #expect(fixture.told() == ["This poll is anonymous."])
        }
    }

    /// The output for an empty list states that the list is empty.
    @Test func emptyListsAreReported() async throws {
        try await CommandFixture.with { fixture in
            let cases: [(String, JSONObject, String, String)] = [
                ("directory", ["conversations": []], "/directory x", "No groups or channels found."),
                ("link.list", ["links": []], "/links", "No invite links."),
                ("reactions", ["reactions": []], "/reactions #1", "No reactions."),
                ("readers", ["readers": []], "/readers #2", "Not received yet."),
                ("people", ["users": []], "/users zed", "No users found."),
            ]
            for (verb, answer, line, words) in cases {
                fixture.server.script(verb, .object(answer))
                await fixture.perform(line)
                #expect(fixture.told() == [words], "\(line)")
            }
            fixture.server.script("members", ["members": [], "version": 1, "total": 0])
            for (line, words) in [("/banned", "No user is banned."), ("/approve", "There are no requests to join.")] {
                await fixture.perform(line)
                #expect(fixture.told() == [words], "\(line)")
            }
        }
    }

    // MARK: The open thread

    /// A text that is written while a thread is open belongs to the thread.
    @Test(arguments: [
        ("text", "send"), ("/silent text", "send"), ("/reply #1 text", "send"), ("/poll Q | A | B", "send"),
        ("/schedule +1h text", "schedule"),
    ])
    func theThreadReceivesWrittenMessages(line: String, verb: String) async throws {
        try await CommandFixture.with { fixture in
            fixture.host.openThread = 1
            await fixture.perform(line)
            try await eventually { fixture.server.count(of: verb) == 1 }
            #expect(fixture.request(verb)?["thread"] == 1)
        }
    }
}
