import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Testing

@testable import ApusChatClient

/// The lines that commands print about messages, conversations and members.
@MainActor @Suite("Output of commands", .timeLimit(.minutes(5)))
struct ChatCommanderReadTests {
    // MARK: Search

    /// The newest hit is the last line, beside the input.
    @Test func hitsAreListedOldestFirstWithTheirPlaces() async throws {
        try await CommandFixture.with { fixture in
            let unknown = ConversationID(number: 99)
            let hits = [
                SearchHit(event: Value.text(9, "a zebra", in: fixture.pair), snippet: "a \u{1B}zebra"),
                SearchHit(event: Value.text(2, "another zebra", by: Value.alice, in: unknown), snippet: ""),
            ]
            fixture.server.script("search", SearchAnswer(hits: hits).json)
            await fixture.perform("/search zebra")
            let commands = fixture.host.said.map(\.command)
            #expect(fixture.told() == ["[?] #2 alice: another zebra", "[bob] #9 bob: a \u{FFFD}zebra"])
            #expect(commands == ["/open \(unknown)/2", "/open \(fixture.pair)/9"])
        }
    }

    @Test func aSearchWithoutAConnectionFindsStoredMessages() async throws {
        try await CommandFixture.with { fixture in
            fixture.server.setReachable(false)
            fixture.server.disconnectAll()
            try await eventually { await fixture.client.state == .connecting }
            await fixture.perform("/search hello")
            let told = fixture.told()
            #expect(told.first == "No connection: only messages of this device are searched.")
            #expect(told.count == 2 && told.last?.hasSuffix("#1 bob: hello") == true)
            await fixture.perform("/search nothing")
            #expect(fixture.told().last == "No messages found.")
        }
    }

    // MARK: Conversations

    @Test func theArchiveIsNumberedNewestFirstForOpen() async throws {
        try await CommandFixture.with { fixture in
            var heads: [ChatHead] = []
            for (conversation, at) in [(fixture.group, 1_900_000_000_000), (fixture.pair, 1_900_000_000_001)] as [(ConversationID, Int64)] {
                var head = try await fixture.client.conversation(conversation).head
                (head.own.isArchived, head.at) = (true, at)
                heads.append(head)
            }
            let pushed = heads
            fixture.server.push("head", HeadPush(heads: pushed).json)
            try await eventually { await fixture.client.heads.count { $0.own.isArchived } == 2 }
            await fixture.perform("/archived")
            let commands = fixture.host.said.map(\.command)
            let told = fixture.told()
            #expect(told.count == 2 && told.first == "1. bob" && commands == ["/open 1", "/open 2"])
            for command in ["/open 2", "/open 1"] { await fixture.perform(command) }
            #expect(fixture.host.shown == [fixture.group, fixture.pair])
        }
    }

    @Test func theNotesAreOpened() async throws {
        try await CommandFixture.with { fixture in
            let notes = try #require(await fixture.client.notes)
            await fixture.perform("/notes")
            #expect(fixture.host.shown == [notes.id])
        }
    }

    @Test func pinnedMessagesAreListedWithTheirPlaces() async throws {
        try await CommandFixture.with { fixture in
            var head = try await fixture.client.conversation(fixture.group).head
            head.pins = [3, 1]
            let pinned = head
            fixture.server.push("head", HeadPush(heads: [pinned]).json)
            try await eventually { try await fixture.client.conversation(fixture.group).head.pins == [3, 1] }
            await fixture.perform("/pins")
            let commands = fixture.host.said.map(\.command)
            let told = fixture.told()
            #expect(told.count == 2 && commands == ["/jump #3", "/jump #1"])
            #expect(told.first?.contains("#3 you: [poll] When?") == true && told.last?.hasSuffix("#1 bob: hello") == true)
        }
    }

    // MARK: Members

    @Test func aMemberHasItsNameItsRoleAndItsState() async throws {
        try await CommandFixture.with { fixture in
            let now = CommandFixture.now
            let members = [
                ChatMember(user: ChatUser(name: Value.bob, nick: "B\u{202E}b", online: true), role: .owner, since: 1),
                ChatMember(user: ChatUser(name: Value.name("carol")), role: .reader, since: 1, mutedUntil: now + 1),
                ChatMember(user: ChatUser(name: Value.name("dave"), online: false), role: .member, since: 1, mutedUntil: now),
            ]
            fixture.server.script("members", MembersAnswer(members: members, version: 1, total: 3).json)
            await fixture.perform("/members")
            let commands = fixture.host.said.map(\.command)
            #expect(fixture.told() == ["bob  B\u{FFFD}b  (owner)  online", "carol  (reader, may not write)", "dave  (member)"])
            #expect(commands == ["/open bob", "/open carol", "/open dave"])
        }
    }

    @Test func aBanHasItsEnd() async throws {
        try await CommandFixture.with { fixture in
            let members = [
                ChatMember(
                    user: ChatUser(name: Value.bob), role: .member, state: .banned, since: 1, bannedUntil: CommandFixture.now + 3_600_000),
                ChatMember(user: ChatUser(name: Value.name("carol")), role: .member, state: .banned, since: 1),
            ]
            fixture.server.script("members", MembersAnswer(members: members, version: 1, total: 2).json)
            await fixture.perform("/banned")
            let commands = fixture.host.said.map(\.command)
            #expect(fixture.told() == ["@bob  until 12:30", "@carol"] && commands == ["/unban bob", "/unban carol"])
            await fixture.perform("/approve")
            #expect(fixture.host.said.map(\.command) == ["/approve bob", "/approve carol"])
        }
    }

    /// The next page belongs to one query in one conversation.
    @Test func thePagesOfMembersEndWithTheLastOne() async throws {
        try await CommandFixture.with { fixture in
            let bob = ChatMember(user: ChatUser(name: Value.bob), role: .member, since: 1)
            fixture.server.script(
                "members", MembersAnswer(members: [bob], version: 1, total: 2, page: Value.token("p2")).json,
                MembersAnswer(members: [bob], version: 1, total: 2).json)
            await fixture.perform("/members")
            #expect(fixture.told().last == "2 in all; /members again shows the next page, /members NAME searches the names")
            await fixture.perform("/members")
            #expect(fixture.request("members") == ["page": "p2"])
            #expect(fixture.told() == ["bob  (member)"], "the last page")
            await fixture.perform("/members")
            #expect(fixture.request("members") == [:], "the first page again")
        }
    }

    @Test func thePagesOfAnotherConversationBeginAtTheirStart() async throws {
        try await CommandFixture.with { fixture in
            let bob = ChatMember(user: ChatUser(name: Value.bob), role: .member, since: 1)
            fixture.server.script("members", MembersAnswer(members: [bob], version: 1, total: 2, page: Value.token("p2")).json)
            await fixture.perform("/members")
            fixture.host.conversation = fixture.client.conversation(fixture.pair)
            await fixture.perform("/members")
            #expect(fixture.request("members") == ["conv": .string(fixture.pair.rawValue)])
        }
    }

    @Test func receiptsHaveThreeStates() async throws {
        try await CommandFixture.with { fixture in
            let readers: JSONValue = [
                ["user": "bob", "read": true, "received": true], ["user": "carol", "received": true], ["user": "dave"],
            ]
            fixture.server.script("readers", ["readers": readers])
            await fixture.perform("/readers #2")
            #expect(fixture.told() == ["@bob  read", "@carol  delivered", "@dave  sent"])
        }
    }

    /// An error of a scheduled message, and a message without a text, have words.
    @Test func scheduledMessagesHaveTheirState() async throws {
        try await CommandFixture.with { fixture in
            let messages: JSONValue = [
                [
                    "id": "m1", "conv": .string(fixture.pair.rawValue), "kind": "text", "body": ["text": "two\nlines"],
                    "send_at": .integer(CommandFixture.now + 60_000), "error": "forbidden",
                ],
                [
                    "id": "m2", "conv": .string(ConversationID(number: 99).rawValue), "kind": "poll",
                    "body": ["question": "Q", "options": ["A", "B"]], "send_at": .integer(CommandFixture.now + 86_400_000),
                ],
            ]
            fixture.server.script("scheduled", ["scheduled": messages])
            await fixture.perform("/scheduled")
            #expect(fixture.told() == ["1. 11:31 [bob] two lines  not sent: forbidden", "2. Wed 2026-11-25 11:30 [?] (poll)"])
        }
    }

    @Test func devicesAreListedWithTheirTimes() async throws {
        try await CommandFixture.with { fixture in
            let devices: JSONValue = [
                ["device": "2d3e4v5c6e7a8", "name": "Phone\u{1B}", "platform": "ios", "at": 1, "last_seen": 1],
                [
                    "device": "3d3e4v5c6e7a8", "name": "Desk", "platform": "linux", "at": 1,
                    "last_seen": .integer(CommandFixture.now), "address": "192.0.2.7", "current": true,
                ],
            ]
            fixture.server.script("devices", ["devices": devices])
            await fixture.perform("/sessions")
            #expect(
                fixture.told() == ["1. Phone\u{FFFD}, ios    (seen Thu 1970-01-01 00:00)", "2. Desk, linux  192.0.2.7  (this one)"])
            await fixture.perform("/signout 2")
            #expect(fixture.request("device.remove") == ["device": "3d3e4v5c6e7a8"])
        }
    }
}
