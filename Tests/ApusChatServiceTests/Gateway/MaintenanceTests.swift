import ApusChatCore
import ApusChatProtocol
import ApusChatSQLite
import ApusChatService
import ApusJSON
import NIOConcurrencyHelpers
import Testing

/// The maintenance of the service, and its effects on clients.
@Suite(.timeLimit(.minutes(5)))
struct MaintenanceTests {
    @Test func aScheduledMessageIsSentInTime() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let now = fixture.now
            let request = ScheduleRequest(
                id: .make("s1"), conversation: pair, kind: .text, body: ["text": "later, @bob"], sendAt: now + 3_600_000)
            let answer = try await alice.ask(ChatVerbs.schedule, request)
            #expect(answer.scheduled.sendAt == now + 3_600_000)
            _ = try await alice.ask(
                ChatVerbs.schedule,
                ScheduleRequest(id: .make("s2"), conversation: pair, kind: .text, body: ["text": "never"], sendAt: now + 3_600_000))
            _ = try await alice.ask(ChatVerbs.unschedule, UnscheduleRequest(id: .make("u"), target: .make("s2")))
            _ = try await fixture.service.maintain()
            #expect(try await alice.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled.map(\.id.rawValue) == ["s1"])
            fixture.pass(milliseconds: 3_600_001)
            _ = try await fixture.service.maintain()
            let push = try await bob.next(ChatPushes.event) { $0.events.contains { $0.isText } }
            #expect(push.events.filter(\.isText).map { $0.body["text"] } == ["later, @bob"])
            #expect(try await alice.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled.isEmpty)
        }
    }

    @Test func messagesDisappear() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            var settings = ConversationSettingsChange()
            settings.expire = 60
            _ = try await alice.ask(
                ChatVerbs.conversationSet, ConversationSetRequest(id: .make("e"), conversation: pair, settings: settings))
            let sent = try await alice.send("secret", to: pair, id: "m1")
            _ = try await fixture.service.maintain()
            #expect(try await alice.history(pair).events.last?.body["text"] == "secret")
            fixture.pass(milliseconds: 61_000)
            _ = try await fixture.service.maintain()
            let event = try #require(try await alice.history(pair).events.first { $0.seq == sent.seq })
            #expect(event.state == .expired && event.body.isEmpty)
        }
    }

    /// Both users of a pair may set the time, and it also applies to notes.
    @Test func messagesOfPairsAndNotesDisappear() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            var settings = ConversationSettingsChange()
            settings.expire = 60
            let notes = try #require(try await bob.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.kind == .own }).conversation
            for (number, conversation) in [pair, notes].enumerated() {
                _ = try await bob.ask(
                    ChatVerbs.conversationSet,
                    ConversationSetRequest(id: .make("e\(number)"), conversation: conversation, settings: settings))
                let sent = try await bob.send("secret", to: conversation, id: "m\(number)")
                let event = try #require(try await bob.history(conversation).events.last)
                #expect(event.expiresAt == sent.at + 60_000)
            }
            #expect(try await alice.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.conversation == pair }?.settings?.expire == 60)
            let push = try await alice.next(ChatPushes.event) { $0.events.contains { $0.isText } }
            #expect(push.events.last?.expiresAt != nil)
        }
    }

    /// An expired message is not served, even before the server removes it. The removal pushes the
    /// changed heads.
    @Test func anExpiredMessageIsNotServed() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            var settings = ConversationSettingsChange()
            settings.expire = 60
            _ = try await alice.ask(
                ChatVerbs.conversationSet, ConversationSetRequest(id: .make("e"), conversation: pair, settings: settings))
            let sent = try await alice.send("secret", to: pair, id: "m1")
            func preview() async throws -> EventPreview? {
                try await bob.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.conversation == pair }?.last
            }
            #expect(try await preview()?.text == "secret")
            fixture.pass(milliseconds: 61_000)
            #expect(try await preview()?.text == nil)
            #expect(try await preview()?.state == .expired)
            let event = try #require(try await bob.history(pair).events.first { $0.seq == sent.seq })
            #expect(event.state == .expired && event.body.isEmpty)
            await #expect {
                try await bob.ask(
                    ChatVerbs.forward, ForwardRequest(id: .make("f"), conversation: pair, source: pair, seqs: [sent.seq]))
            } throws: { ($0 as? ChatError)?.code == .notFound }
            _ = try await fixture.service.maintain()
            let push = try await bob.next(ChatPushes.head) { push in
                push.heads.contains { $0.conversation == pair && $0.last?.state == .expired }
            }
            #expect(push.heads.allSatisfy { $0.last?.text == nil })
        }
    }

    @Test func aPollEndsAtItsTime() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let poll = try await alice.ask(
                ChatVerbs.send,
                SendRequest(
                    id: .make("p"), conversation: pair, kind: .poll,
                    body: ["question": "When?", "options": ["Now", "Later"], "closes_at": .integer(fixture.now + 60_000)]))
            func vote(_ id: String) async throws {
                _ = try await bob.ask(ChatVerbs.vote, VoteRequest(id: .make(id), conversation: pair, ref: poll.seq, options: [1]))
            }
            try await vote("v1")
            fixture.pass(milliseconds: 61_000)
            await #expect { try await vote("v2") } throws: { ($0 as? ChatError)?.code == .tooLate }
            _ = try await fixture.service.maintain()
            let push = try await bob.next(ChatPushes.event) { $0.events.contains { $0.kind == EventKind(.pollClose) } }
            #expect(push.events.last?.ref == poll.seq)
            let event = try #require(try await bob.history(pair).events.first { $0.seq == poll.seq })
            #expect(event.body["closed"] == true && event.votes == [0, 1])
            _ = try await fixture.service.maintain()
            #expect(try await bob.history(pair).events.filter { $0.kind == EventKind(.pollClose) }.count == 1)
        }
    }

    @Test func aClockThatLeapsSendsRemovesAndForgetsNothing() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            var settings = ConversationSettingsChange()
            settings.expire = 60
            _ = try await alice.ask(
                ChatVerbs.conversationSet, ConversationSetRequest(id: .make("e"), conversation: pair, settings: settings))
            let sent = try await alice.send("secret", to: pair, id: "m1")
            _ = try await alice.ask(
                ChatVerbs.schedule,
                ScheduleRequest(
                    id: .make("s"), conversation: pair, kind: .text, body: ["text": "later"], sendAt: fixture.now + 7_200_000))
            let pin = OwnSetRequest(id: .make("own"), conversation: pair, isArchived: true)
            let first = try await alice.ask(ChatVerbs.ownSet, pin)
            fixture.leap(milliseconds: 366 * 86_400_000)
            for _ in 0..<30 {
                fixture.pass(milliseconds: 1_000)
                _ = try await fixture.service.maintain()
                try await fixture.service.forgetAnswers()
            }
            let event = try #require(try await alice.history(pair).events.first { $0.seq == sent.seq })
            #expect(event.body["text"] == "secret")
            #expect(try await alice.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled.count == 1)
            #expect(try await alice.ask(ChatVerbs.ownSet, pin) == first)
            #expect(try await alice.send("dated", to: pair, id: "m2").at < fixture.now + 60_000)
            fixture.leap(milliseconds: 0)
            fixture.pass(milliseconds: 61_000)
            _ = try await fixture.service.maintain()
            #expect(try await alice.history(pair).events.first { $0.seq == sent.seq }?.state == .expired)
        }
    }

    // MARK: Commands that cannot be written

    /// Scripted results of the next commits, and the number of commits since they were set.
    private final class Commits: Sendable {
        private let state = NIOLockedValueBox<(faults: [Int32], count: Int)>(([], 0))

        var count: Int { self.state.withLockedValue { $0.count } }

        func fail(_ faults: Int32...) { self.state.withLockedValue { $0 = (faults, 0) } }

        func next() -> Int32 {
            self.state.withLockedValue { state in
                state.count += 1
                return state.faults.isEmpty ? 0 : state.faults.removeFirst()
            }
        }
    }

    private func schedule(_ text: String, to pair: ConversationID, by peer: ChatPeer, _ fixture: ServiceFixture) async throws {
        let request = ScheduleRequest(
            id: .make(text), conversation: pair, kind: .text, body: ["text": .string(text)], sendAt: fixture.now + 60_000)
        _ = try await peer.ask(ChatVerbs.schedule, request)
        fixture.pass(milliseconds: 1)
    }

    /// Runs a service whose commits fail according to `commits`. The clock moves with `pass` only.
    private func with(_ commits: Commits, _ body: (ServiceFixture) async throws -> Void) async throws {
        try await withService(
            isFrozen: true,
            storage: { environment in
                environment.syncsCommits = false
                environment.commitFault = { commits.next() }
            }, body)
    }

    /// `SQLITE_CONSTRAINT` for one command, for example after an error in this program.
    @Test func aCommandThatCannotBeWrittenDelaysNoOtherAndIsRepeated() async throws {
        let commits = Commits()
        try await self.with(commits) { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            for text in ["first", "second"] { try await self.schedule(text, to: pair, by: alice, fixture) }
            fixture.pass(milliseconds: 60_000)
            func texts() async throws -> [JSONValue?] { try await alice.history(pair).events.filter(\.isText).map { $0.body["text"] } }

            commits.fail(19)
            var maintenance = try await fixture.service.maintain()
            #expect(commits.count == 2)
            #expect(try await texts() == ["second"])

            commits.fail(19)
            maintenance = try await fixture.service.maintain(maintenance)
            #expect(commits.count == 0, "before its time, the command is not repeated")
            fixture.pass(milliseconds: 1_000)
            maintenance = try await fixture.service.maintain(maintenance)
            #expect(commits.count == 1)
            #expect(try await texts() == ["second"])

            fixture.pass(milliseconds: 1_999)
            maintenance = try await fixture.service.maintain(maintenance)
            #expect(commits.count == 1)
            fixture.pass(milliseconds: 1)
            _ = try await fixture.service.maintain(maintenance)
            #expect(try await texts() == ["second", "first"])
            #expect(fixture.service.log.health == .writable)
        }
    }

    /// `SQLITE_FULL`. The commands after the failed one are submitted when the disk accepts writes
    /// again.
    @Test func aFullDiskDelaysOnlyTheFirstCommand() async throws {
        let commits = Commits()
        try await self.with(commits) { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            for text in ["first", "second", "third"] { try await self.schedule(text, to: pair, by: alice, fixture) }
            fixture.pass(milliseconds: 60_000)
            commits.fail(13)
            var maintenance = try await fixture.service.maintain()
            #expect(commits.count == 1)
            maintenance = try await fixture.service.maintain(maintenance)
            #expect(try await alice.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled.count == 3)
            // The recovery closes the connections, because the failed batch may be stored. The
            // health changes on the loop of the log after the connections are closed.
            await alice.waitUntilClosed()
            try await fixture.service.log.withStorage { _ in }
            maintenance = try await fixture.service.maintain(maintenance)
            let again = try await fixture.client("alice")
            #expect(try await again.ask(ChatVerbs.scheduled, ScheduledRequest()).scheduled.map(\.id.rawValue) == ["first"])
            fixture.pass(milliseconds: 1_000)
            _ = try await fixture.service.maintain(maintenance)
            let texts = try await again.history(pair).events.filter(\.isText).map { $0.body["text"] }
            #expect(texts == ["second", "third", "first"])
        }
    }

    @Test func aConversationThatItsOwnerDeletesIsRemovedForAll() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let group = try await alice.ask(
                ChatVerbs.conversationCreate,
                CreateRequest(id: .make("c"), kind: .group, title: "Short", users: [UserName(prepared: "bob")])
            ).head.conversation
            _ = try await bob.ask(ChatVerbs.memberAnswer, MemberAnswerRequest(id: .make("a"), conversation: group, isAccepted: true))
            let token = try await bob.ask(ChatVerbs.sync, SyncRequest()).token
            await #expect {
                try await bob.ask(ChatVerbs.conversationDelete, DeleteRequest(id: .make("d"), conversation: group, isForAll: true))
            } throws: { ($0 as? ChatError)?.code == .forbidden }
            _ = try await alice.ask(ChatVerbs.conversationDelete, DeleteRequest(id: .make("d"), conversation: group, isForAll: true))
            _ = try await fixture.service.maintain()
            #expect(try await bob.ask(ChatVerbs.sync, SyncRequest(since: token)).gone == [group])
            await #expect { try await bob.history(group) } throws: { ($0 as? ChatError)?.code == .notFound }
        }
    }
}

extension ChatEvent {
    fileprivate var isText: Bool { self.kind == .text }
}
