import ApusChatProtocol
import ApusChatTerminal
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

@MainActor @Suite("Commands at a server")
struct ChatCommanderTests {
    private static let hour: Int64 = 3_600_000
    private static let now = CommandFixture.now

    /// A line, the verb and the fields of its request, and the texts that it prints.
    private struct Case: Sendable, CustomTestStringConvertible {
        var line: String
        var verb: String
        var request: JSONValue
        var told: [String]

        init(_ line: String, _ verb: String, _ request: JSONValue = [:], tells told: [String] = []) {
            (self.line, self.verb, self.request, self.told) = (line, verb, request, told)
        }
        var testDescription: String { self.line }
    }

    private func check(_ cases: [Case]) async throws {
        let fixture = try await CommandFixture()
        for item in cases {
            let before = fixture.server.count(of: item.verb)
            await fixture.perform(item.line)
            try await eventually { fixture.server.count(of: item.verb) > before }
            #expect(fixture.request(item.verb) == item.request, "\(item.line)")
            #expect(fixture.told() == item.told, "\(item.line)")
        }
        await fixture.end()
    }

    @Test func messagesAreWritten() async throws {
        let bold: JSONValue = ["text": "so bold", "entities": [["type": "bold", "offset": 3, "length": 4]]]
        let mention: JSONValue = ["text": "@bob hi", "entities": [["type": "mention", "offset": 0, "length": 4, "user": "bob"]]]
        try await self.check([
            Case("hello all", "send", ["kind": "text", "body": ["text": "hello all"]]),
            Case("//not a command", "send", ["kind": "text", "body": ["text": "/not a command"]]),
            Case("/reply so **bold**", "send", ["kind": "text", "body": bold, "ref": 1]),
            Case("/reply #2 fine", "send", ["kind": "text", "body": ["text": "fine"], "ref": 2]),
            Case("@bob hi", "send", ["kind": "text", "body": mention]),
            Case("/thread #1 answer", "send", ["kind": "text", "body": ["text": "answer"], "thread": 1]),
            Case(
                "/silent **so**", "send",
                ["kind": "text", "body": ["text": "so", "entities": [["type": "bold", "offset": 0, "length": 2]]], "silent": true]),
            Case("/poll Q | A | B", "send", ["kind": "poll", "body": ["question": "Q", "options": ["A", "B"]]]),
            Case(
                "/poll --anonymous --until +30m Q | A | B", "send",
                [
                    "kind": "poll",
                    "body": ["question": "Q", "options": ["A", "B"], "anonymous": true, "closes_at": .integer(Self.now + 1_800_000)],
                ]),
            Case("/poll --several Q|A|B", "send", ["kind": "poll", "body": ["question": "Q", "options": ["A", "B"], "multiple": true]]),
            Case("/poll* Q|A|B|", "send", ["kind": "poll", "body": ["question": "Q", "options": ["A", "B"], "multiple": true]]),
        ])
    }

    @Test func messagesAreChanged() async throws {
        try await self.check([
            Case("/edit new", "edit", ["ref": 2, "body": ["text": "new"]]),
            Case("/edit #1 new", "edit", ["ref": 1, "body": ["text": "new"]]),
            Case("/unpreview #2", "preview.remove", ["ref": 2]), Case("/recall", "recall", ["ref": 3]),
            Case("/recall #2", "recall", ["ref": 2]),
            Case("/hide #1,#2", "hide", ["seqs": [1, 2]]), Case("/hide", "hide", ["seqs": [3]]),
            Case("/react 👍", "react", ["ref": 1, "key": "👍"]), Case("/unreact #1 👍", "react", ["ref": 1, "key": "👍", "remove": true]),
            Case("/reactions #1", "reactions", ["ref": 1], tells: ["👍  @alice"]),
            Case("/readers #2", "readers", ["seq": 2], tells: ["@bob  read"]), Case("/pin #1", "pin", ["ref": 1]),
            Case("/unpin #1", "pin", ["ref": 1, "remove": true]), Case("/vote 2", "vote", ["ref": 3, "options": [1]]),
            Case("/vote #3 1 2", "vote", ["ref": 3, "options": [0, 1]]), Case("/vote 0", "vote", ["ref": 3, "options": []]),
            Case("/closepoll", "poll.close", ["ref": 3]),
        ])
    }

    @Test func versionsOfAMessageAreListed() async throws {
        let fixture = try await CommandFixture()
        let conv = JSONValue.string(fixture.group.rawValue)
        let original: JSONValue = [
            "conv": conv, "seq": 2, "n": 2, "sender": "alice", "at": .integer(Self.now - Self.hour), "kind": "text",
            "body": ["text": "mine"],
        ]
        let edit: JSONValue = [
            "conv": conv, "seq": 4, "sender": "alice", "at": .integer(Self.now), "kind": "edit", "ref": 2,
            "body": ["body": ["text": "yours"]],
        ]
        for (events, told) in [([original, edit], ["10:30  mine", "11:30  yours"]), ([original], ["The message was not edited."])] {
            fixture.server.script("history", ["conv": conv, "events": .array(events), "seq": 4, "min_seq": 1])
            await fixture.perform("/versions #2")
            #expect(fixture.request("history")?["edits"] == 2)
            #expect(fixture.told() == told)
        }
        await fixture.end()
    }

    @Test func messagesAreSentLater() async throws {
        let fixture = try await CommandFixture()
        await fixture.perform("/schedule +30m later")
        #expect(
            fixture.request("schedule") == ["kind": "text", "body": ["text": "later"], "send_at": .integer(Self.now + 1_800_000)])
        #expect(fixture.told() == ["The message will be sent 12:00. /scheduled lists the messages."])
        await fixture.perform("/scheduled")
        #expect(fixture.told() == ["1. Tue 2026-09-22 14:13 [?] Happy birthday!"])
        await fixture.perform("/unschedule 1")
        #expect(fixture.request("unschedule") == ["of": "0192f0c4-7d3e-7a10-9c55-1b2e3f405162"])
        #expect(fixture.told() == ["The message is no longer scheduled."])
        await fixture.perform("/unschedule 2")
        #expect(fixture.told() == ["\"2\" is not a number in the list of /scheduled"])
        await fixture.end()
    }

    @Test func membersAreManaged() async throws {
        try await self.check([
            Case("/add bob, @carol", "member.add", ["users": ["bob", "carol"]], tells: ["Invited: @carol"]),
            Case("/remove @bob carol", "member.remove", ["users": ["bob", "carol"]]), Case("/ban bob", "member.ban", ["users": ["bob"]]),
            Case("/ban bob 2", "member.ban", ["users": ["bob"], "until": .integer(Self.now + 2 * Self.hour)]),
            Case("/unban bob", "member.unban", ["users": ["bob"]]),
            Case("/role bob admin", "member.role", ["users": ["bob"], "role": "admin"]),
            Case("/silence bob 30m", "member.mute", ["users": ["bob"], "until": .integer(Self.now + Self.hour / 2)]),
            Case("/silence bob 1", "member.mute", ["users": ["bob"], "until": .integer(Self.now + Self.hour)]),
            Case("/silence bob", "member.mute", ["users": ["bob"], "until": .integer(Self.now + 87_600 * Self.hour)]),
            Case("/unsilence bob", "member.mute", ["users": ["bob"], "until": 0]),
            Case("/approve dave", "member.approve", ["user": "dave", "accept": true]),
            Case("/reject @dave", "member.approve", ["user": "dave", "accept": false]), Case("/leave", "member.leave"),
            Case("/banned", "members", ["state": "banned"], tells: ["@bob"]),
            Case("/approve", "members", ["state": "requested"], tells: ["@bob"]),
        ])
    }

    @Test func membersAreListedPageByPage() async throws {
        let fixture = try await CommandFixture()
        await fixture.perform("/members")
        #expect(fixture.request("members") == [:])
        let told = fixture.told()
        #expect(told.count == 2 && told[0] == "bob  Bob  (member)" && told[1].hasPrefix("3 in all"))
        await fixture.perform("/members")
        #expect(fixture.request("members")?["page"]?.stringValue != nil)
        await fixture.perform("/members bo")  // another list begins at its start
        #expect(fixture.request("members") == ["query": "bo"])
        await fixture.end()
    }

    @Test func theConversationIsChanged() async throws {
        let ever = Self.now + 87_600 * Self.hour
        let link =
            "The code is k7Qm2ZtX9bVw4NsA  (for a reader, used 0 of 50 times, until Mon 2026-09-21 14:13). Others join with /join k7Qm2ZtX9bVw4NsA."
        try await self.check([
            Case(
                "/mute 8", "own.set", ["muted_until": .integer(Self.now + 8 * Self.hour)],
                tells: ["New messages are not shown while another conversation is open."]),
            Case(
                "/mute", "own.set", ["muted_until": .integer(ever)],
                tells: ["New messages are not shown while another conversation is open."]),
            Case(
                "/mute mentions", "own.set", ["muted_until": 0, "notify": "mentions"],
                tells: ["Only messages that mention you are shown while another conversation is open."]),
            Case("/unmute", "own.set", ["muted_until": 0, "notify": "all"], tells: ["New messages are shown again."]),
            Case("/top", "own.set", ["pinned": true], tells: ["At the top of the list."]),
            Case("/untop", "own.set", ["pinned": false], tells: ["No longer at the top."]),
            Case("/archive", "own.set", ["archived": true], tells: ["Archived. /archived lists the archive."]),
            Case("/unarchive", "own.set", ["archived": false], tells: ["Back in the list."]),
            Case("/unread", "own.set", ["marked_unread": true], tells: ["Marked as unread."]), Case("/delete", "conversation.delete"),
            Case("/delete all", "conversation.delete", ["for_all": true]),
            Case("/title New title", "conversation.set", ["title": "New title"]),
            Case("/about Every Tuesday", "conversation.set", ["about": "Every Tuesday"]), Case("/about", "conversation.set", ["about": ""]),
            Case("/slow 30", "conversation.set", ["settings": ["slow": 30]]),
            Case("/expire 7d", "conversation.set", ["settings": ["expire": 604_800]]),
            Case("/disappear 0", "conversation.set", ["settings": ["expire": 0]]),
            Case("/write admins", "conversation.set", ["settings": ["write": "admins"]]),
            Case("/joining approval", "conversation.set", ["settings": ["join": "approval"]]),
            Case("/listed yes", "conversation.set", ["settings": ["listed": true]]),
            Case("/listed no", "conversation.set", ["settings": ["listed": false]]),
            Case("/links", "link.list", [:], tells: ["k7Qm2ZtX9bVw4NsA  (used 3 times)"]), Case("/link", "link.create", [:], tells: [link]),
            Case("/link 24 5", "link.create", ["expires_at": .integer(Self.now + 24 * Self.hour), "uses": 5], tells: [link]),
            Case(
                "/link guest approval", "link.create", ["role": "guest", "approval": true],
                tells: [link + " An admin approves them with /approve."]),
            Case("/link 24 reader", "link.create", ["expires_at": .integer(Self.now + 24 * Self.hour), "role": "reader"], tells: [link]),
            Case("/set invite admins", "conversation.set", ["settings": ["invite": "admins"]]),
            Case("/set manage members", "conversation.set", ["settings": ["manage": "members"]]),
            Case("/set pin admins", "conversation.set", ["settings": ["pin": "admins"]]),
            Case("/set mention_all members", "conversation.set", ["settings": ["mention_all": "members"]]),
            Case("/set history join", "conversation.set", ["settings": ["history": "join"]]),
            Case("/set receipts no", "conversation.set", ["settings": ["receipts": false]]),
            Case("/revoke k7Qm2ZtX9bVw4NsA", "link.revoke", ["code": "k7Qm2ZtX9bVw4NsA"], tells: ["The link is revoked."]),
        ])
    }

    @Test func peopleAreFoundAndKept() async throws {
        try await self.check([
            Case("/users @bob", "people", ["query": "bob"], tells: ["bob  Bob"]),
            Case("/contacts", "contacts", ["state": "friend"], tells: ["bob  Bobby  Bob"]),
            Case("/blocked", "contacts", ["state": "blocked"], tells: ["bob  Bobby  Bob"]),
            Case("/contact bob", "contact.request", ["user": "bob"], tells: ["A contact request was sent to @bob."]),
            Case(
                "/contact @bob  We met", "contact.request", ["user": "bob", "text": "We met"],
                tells: ["A contact request was sent to @bob."]),
            Case("/withdraw @bob", "contact.remove", ["user": "bob"], tells: ["The contact request to @bob is withdrawn."]),
            Case("/privacy messages contacts", "settings.set", ["settings": ["messages": "contacts"]], tells: ["messages: contacts"]),
            Case("/privacy typing no", "settings.set", ["settings": ["typing": false]], tells: ["typing: no"]),
            Case("/uncontact bob", "contact.remove", ["user": "bob"]),
            Case("/alias bob Bobby B.", "contact.alias", ["user": "bob", "alias": "Bobby B."]),
            Case("/alias bob", "contact.alias", ["user": "bob", "alias": ""]),
            Case("/block bob", "block", ["user": "bob"], tells: ["@bob is blocked."]),
            Case("/unblock bob", "unblock", ["user": "bob"], tells: ["@bob is no longer blocked."]),
            Case(
                "/report bob abuse", "report", ["user": "bob", "reason": "abuse"], tells: ["The report of @bob was sent to the operator."]),
            Case(
                "/report #1 spam An advertisement", "report", ["seqs": [1], "reason": "spam", "text": "An advertisement"],
                tells: ["The report of #1 was sent to the operator."]),
            Case("/report spam", "report", ["seqs": [1], "reason": "spam"], tells: ["The report of #1 was sent to the operator."]),
            Case(
                "/report chat other A title", "report",
                ["reason": "other", "text": "A title"],
                tells: ["The report of the conversation was sent to the operator."]),
            Case("/accept @bob", "contact.answer", ["user": "bob", "accept": true], tells: ["@bob is now a contact."]),
            Case("/decline bob", "contact.answer", ["user": "bob", "accept": false], tells: ["The request of @bob is declined."]),
            Case("/nick Al", "profile.set", ["nick": "Al"], tells: ["You are shown as Al now."]),
            Case("/nick -", "profile.set", ["nick": ""], tells: ["You are shown as alice now."]),
            Case("/status At the harbour", "profile.set", ["status": "At the harbour"], tells: ["Others see the status text."]),
            Case(
                "/quiet 22:00 07:30", "settings.set", ["settings": ["quiet_from": 1_320, "quiet_until": 450]],
                tells: ["No notifications from 22:00 to 07:30."]),
            Case("/quiet off", "settings.set", ["settings": ["quiet_from": 0, "quiet_until": 0]], tells: ["No quiet hours."]),
            Case("/signout others", "device.remove", ["others": true], tells: ["All other devices are signed out."]),
        ])
    }

    @Test func conversationsAreMadeAndJoined() async throws {
        let fixture = try await CommandFixture()
        await fixture.perform("/group Rowing club: bob, @carol")
        #expect(fixture.request("conversation.create") == ["kind": "group", "title": "Rowing club", "users": ["bob", "carol"]])
        await fixture.perform("/channel News")
        #expect(fixture.request("conversation.create") == ["kind": "channel", "title": "News"])
        #expect(fixture.request("conversation.set") == ["settings": ["join": "open", "listed": true]])
        #expect(fixture.host.shown == [fixture.group, fixture.group])
        _ = fixture.told()
        await fixture.perform("/directory row")
        #expect(fixture.request("directory") == ["query": "row"])
        #expect(fixture.told() == ["1. Rowing news  (channel, 812 members)  Results"])
        await fixture.perform("/join 1")
        #expect(fixture.request("member.join") == ["conv": "3g7r0p5a2b4c6"])
        for code in ["k7Qm2ZtX9bVw4NsA", "https://chat.example/join/k7Qm2ZtX9bVw4NsA"] {
            await fixture.perform("/join \(code)")
            #expect(fixture.request("member.join") == ["link": "k7Qm2ZtX9bVw4NsA"])
        }
        await fixture.perform("/join 2")
        #expect(fixture.told() == ["\"2\" is neither the code of a link nor a number in the list of /directory"])
        await fixture.end()
    }

    @Test func messagesAreForwarded() async throws {
        let fixture = try await CommandFixture()
        await fixture.perform("/forward #1-#2 bob")
        let pair = JSONValue.string(fixture.pair.rawValue)
        #expect(fixture.request("forward") == ["conv": pair, "from": .string(fixture.group.rawValue), "seqs": [1, 2]])
        #expect(fixture.told() == ["2 messages were forwarded."])
        await fixture.perform("/forward #1 @bob: Some plans")
        #expect(fixture.request("forward")?["title"] == "Some plans" && fixture.request("forward")?["bundle"] == true)
        #expect(fixture.told() == ["1 message was forwarded."])
        await fixture.end()
    }

    @Test func conversationsAreOpenedByAnyName() async throws {
        let fixture = try await CommandFixture()
        fixture.commander.listed = [fixture.pair, fixture.group]
        for name in ["1", "2", fixture.pair.rawValue, "bob", "BOB", "dave"] { await fixture.perform("/open \(name)") }
        #expect(fixture.host.shown == [fixture.pair, fixture.group, fixture.pair, fixture.pair, fixture.pair, fixture.group])
        #expect(fixture.request("conversation.open") == ["user": "dave"])
        fixture.server.script("conversation.open", ChatError(.notFound, message: "no").json)
        await fixture.perform("/open bobb")
        #expect(fixture.told() == ["there is no user named bobb; similar names: bob (Bob)"])
        fixture.server.script("conversation.open", ChatError(.forbidden, message: "bob takes messages of contacts only.").json)
        await fixture.perform("/open bobby")
        #expect(fixture.told() == ["bob takes messages of contacts only. /contact bobby asks the user to become a contact."])
        await fixture.end()
    }

    @Test func searchesAreRestricted() async throws {
        let fixture = try await CommandFixture()
        let day: Int64 = 86_400_000
        let midnight = Self.now - Self.now % day
        await fixture.perform("/search from:@bob in:. kind:image kind:file after:7d before:2026-11-24 https://example.com quiet lake")
        #expect(
            fixture.request("search") == [
                "query": "https://example.com quiet lake", "sender": "bob", "kinds": ["image", "file"],
                "from_at": .integer(Self.now - 7 * day), "until_at": .integer(midnight),
            ])
        await fixture.perform("/search in:. kind:image")
        #expect(fixture.request("search") == ["kinds": ["image"]])
        await fixture.perform("/search in:bob plan")
        #expect(fixture.request("search") == ["query": "plan", "conv": .string(fixture.pair.rawValue)])
        await fixture.end()
    }

    @Test func placesAreShown() async throws {
        let fixture = try await CommandFixture()
        await fixture.perform("/jump #2")
        await fixture.perform("/thread #1")
        #expect(fixture.host.jumps == [2] && fixture.host.threads == [1])
        fixture.host.openThread = 1
        await fixture.perform("/thread")
        #expect(fixture.host.threads == [1, nil])
        await fixture.perform("/archived")
        #expect(fixture.told() == ["No conversation is archived."])
        await fixture.perform("/pins")
        #expect(fixture.told() == ["No message is pinned."])
        await fixture.end()
    }

    @Test func devicesAreSignedOutByTheirNumber() async throws {
        let fixture = try await CommandFixture()
        await fixture.perform("/signout 1")
        #expect(fixture.told() == ["\"1\" is not a number in the list of /sessions"])
        await fixture.perform("/sessions")
        #expect(fixture.told() == ["1. Firefox on Linux, web  192.0.2.7  (this one)"])
        await fixture.perform("/signout 1")
        #expect(fixture.request("device.remove") == ["device": "2d3e4v5c6e7a8"])
        await fixture.end()
    }

    @Test func theSelectedMessageComesBeforeTheLast() async throws {
        let fixture = try await CommandFixture()
        fixture.host.selectedSeq = 2
        await fixture.perform("/react 👍")
        #expect(fixture.request("react")?["ref"] == 2)
        await fixture.perform("/react #1 👍")
        #expect(fixture.request("react")?["ref"] == 1)
        await fixture.end()
    }

    // MARK: Mistakes

    @Test func mistakesAreReportedAndNotSent() async throws {
        let fixture = try await CommandFixture()
        let lines: [(String, String)] = [
            ("/ban b/b", "\"b/b\" is not a user name"), ("/ban bob x", "the number of hours must be from 1 to 87600, not \"x\""),
            ("/ban bob 0", "the number of hours must be from 1 to 87600, not \"0\""),
            ("/ban bob 87601", "the number of hours must be from 1 to 87600, not \"87601\""),
            ("/mute -1", "the number of hours must be from 1 to 87600, not \"-1\""),
            ("/link 24 0", "the number of uses must be greater than 0, not 0"),
            ("/link 24 many", "the number of uses must be greater than 0, not many"), ("/revoke x", "\"x\" is not the code of a link"),
            ("/role bob king", "/role NAME ROLE: the roles are owner, admin, member, reader and guest"),
            ("/slow fast", "/slow SECONDS: \"fast\" is not valid"), ("/write guests", "/write members|admins: \"guests\" is not valid"),
            ("/write unknown", "/write members|admins: \"unknown\" is not valid"),
            ("/set pin guests", "/set SETTING VALUE: \"pin guests\" is not valid"),
            ("/set slow 5", "/set SETTING VALUE: \"slow 5\" is not valid"),
            ("/privacy add friends", "/privacy [SETTING VALUE]: \"add friends\" is not valid"),
            ("/search after:soon x", "\"soon\" is not a time, such as 2026-11-24, 2026-11-24T18:00 or 7d"),
            ("/search kind:pin x", "pin is not a kind of messages, such as text, image, file or audio"),
            ("/search in:nowhere x", "there is no conversation nowhere in the list"),
            ("/poll --secret Q | A | B", "/poll QUESTION | A | B: --secret is not --several, --anonymous or --until"),
            ("/poll --until soon Q | A | B", "/poll QUESTION | A | B: \"soon\" is not a time"),
            ("/withdraw dave", "you have no pending request to dave; /requests lists your requests"),
            ("/listed maybe", "/listed yes|no: \"maybe\" is not valid"),
            ("/joining \u{1B}[2J", "/joining open|approval|closed: \"\u{FFFD}[2J\" is not valid"),
            ("/group Team", "/group TITLE: NAME …: the title or the names are missing"),
            ("/group : bob", "/group TITLE: NAME …: the title or the names are missing"),
            ("/poll Q | A", "/poll QUESTION | A | B: at least two options are required"),
            ("/schedule soon x", "/schedule TIME TEXT: \"soon\" is not a time"),
            ("/schedule +5m", "/schedule TIME TEXT: the text is missing"),
            ("/vote #3 3", "the numbers of the options must be from 1 to 2"),
            ("/vote #3 x", "the numbers of the options must be from 1 to 2"),
            ("/vote #3 0 1", "the numbers of the options must be from 1 to 2"), ("/vote #1 1", "message #1 is not a poll"),
            ("/save #1", "message #1 has no file"), ("/report #1 rude", "/report [#N|NAME|chat] REASON [TEXT]: the reasons are "),
            ("/nonsense", "unknown command /nonsense"),
            ("/accept dave", "there is no request from dave; /requests lists them"),
        ]
        for (line, message) in lines {
            await fixture.perform(line)
            let told = fixture.told()
            #expect(told.count == 1 && told[0].hasPrefix(message), "\(line): \(told)")
        }
        #expect(fixture.host.said.isEmpty)
        for verb in ["member.ban", "own.set", "link.create", "conversation.set", "conversation.create", "vote", "report", "schedule"] {
            #expect(fixture.server.count(of: verb) == 0, "\(verb)")
        }
        await fixture.end()
    }

    @Test func withoutAConversationMostCommandsTellHowToOpenOne() async throws {
        let fixture = try await CommandFixture()
        fixture.host.conversation = nil
        fixture.host.shownRows = []
        for line in ["text", "/reply x", "/members", "/mute", "/info", "/title x", "/leave", "/file x", "/retry", "/pins"] {
            await fixture.perform(line)
            #expect(fixture.told() == ["open a conversation first: /open NAME"], "\(line)")
        }
        fixture.host.conversation = fixture.client.conversation(fixture.group)
        await fixture.perform("/react 👍")
        #expect(fixture.told() == ["there is no message of another user on the screen; name a message by its number, such as #17"])
        await fixture.end()
    }

    @Test func aRefusalStatesWhenTheNextAttemptMaySucceed() async throws {
        let fixture = try await CommandFixture()
        let cases: [(Int64?, String)] = [
            (nil, "Wait."), (2_000, "Wait."), (1_800_000, "Wait. Possible again: 12:00."),
            (9_007_199_254_740_991, "Wait."), (60 * 365 * 86_400_000, "Wait."),
        ]
        for (retryAfter, told) in cases {
            fixture.server.script("member.ban", ChatError(.forbidden, message: "Wait.", retryAfter: retryAfter).json)
            await fixture.perform("/ban bob")
            #expect(fixture.told() == [told], "\(retryAfter ?? -1)")
        }
        await fixture.end()
    }

    @Test func scheduledMessagesOfAllPagesAreListed() async throws {
        let fixture = try await CommandFixture()
        func page(_ numbers: ClosedRange<Int>, next: String?) -> JSONValue {
            let messages = numbers.map { number -> JSONValue in
                [
                    "id": "m\(number)", "conv": .string(fixture.group.rawValue), "kind": "text", "body": ["text": "number \(number)"],
                    "send_at": .integer(CommandFixture.now + Int64(number) * 60_000),
                ]
            }
            var answer: JSONObject = ["scheduled": .array(messages)]
            if let next { answer["page"] = .string(next) }
            return .object(answer)
        }
        fixture.server.script("scheduled", page(1...2, next: "p2"), page(3...3, next: nil))
        await fixture.perform("/scheduled")
        let told = fixture.told()
        #expect(told.count == 3 && told.last?.hasPrefix("3. ") == true && told.last?.hasSuffix("number 3") == true, "\(told)")
        await fixture.end()
    }

    @Test func refusalsOfTheServerAreReported() async throws {
        let fixture = try await CommandFixture()
        fixture.server.script("member.ban", ChatError(.forbidden, message: "Only admins ban.").json)
        await fixture.perform("/ban bob")
        #expect(fixture.host.said.map(\.style) == [.warning] && fixture.told() == ["Only admins ban."])
        fixture.server.script("people", ["users": []])
        await fixture.perform("/users zed")
        #expect(fixture.told() == ["No users found."])
        fixture.server.script("contacts", ["contacts": []])
        for (line, words) in [("/contacts", "No contacts."), ("/blocked", "No user is blocked."), ("/requests", "No requests.")] {
            await fixture.perform(line)
            #expect(fixture.told() == [words])
        }
        fixture.server.script("conversation.info", ["head": 1])
        await fixture.perform("/info")
        #expect(fixture.told().first?.hasPrefix("the answer to `conversation.info` is not valid") == true)
        await fixture.end()
    }

    // MARK: Files

    @Test func aFileIsSavedUnderASafeName() async throws {
        let fixture = try await CommandFixture()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let body: JSONObject = [
            "blob": .string(String(repeating: "0f", count: 32)), "name": "../.\u{202E}profile", "size": 3, "type": "text/plain",
        ]
        var row = fixture.host.shownRows[0]
        row.event.kind = .file
        row.event.body = body
        fixture.host.shownRows = [row]
        let path = folder.appendingPathComponent("saved").path
        await fixture.perform("/save #1 \(path)")
        #expect(fixture.told() == ["Saved \(path), 3 bytes."])
        #expect(FileManager.default.contents(atPath: path) == Data([1, 2, 3]))
        await fixture.perform("/save #1 \(path)")
        #expect(fixture.told() == ["the file \(path) already exists; name another one: /save #1 PATH"])
        await fixture.perform("/save #1 \(folder.path)/none/x")
        #expect(fixture.told().first?.hasPrefix("cannot write \(folder.path)/none/x") == true)
        await fixture.perform("/view #1")
        let opened = try #require(fixture.host.openedFiles.first)
        #expect(opened.hasSuffix("/\u{FFFD}profile") && !opened.contains(".."))
        try? FileManager.default.removeItem(at: URL(fileURLWithPath: opened).deletingLastPathComponent())
        await fixture.end()
    }

    @Test(arguments: [
        ("a.PNG", "image/png"), ("/x/photo.jpeg", "image/jpeg"), ("notes.txt", "text/plain"), ("archive.tar.zip", "application/zip"),
        ("none", "application/octet-stream"), ("", "application/octet-stream"), ("x.exe", "application/octet-stream"),
    ])
    func typesFollowTheExtension(path: String, type: String) { #expect(MediaType.of(path: path) == type) }
}
