import ApusChatProtocol
import ApusChatService
import ApusJSON
import Testing

/// Settings of a user and of its conversations that several devices change.
@Suite(.timeLimit(.minutes(5)))
struct SettingsTests {
    /// Changes that one device sends without waiting for answers, and concurrent changes of two
    /// devices, are all kept.
    @Test func changesAtTheSameTimeAreAllKept() async throws {
        try await withService { fixture in
            let phone = try await fixture.client("alice", device: 1)
            let desktop = try await fixture.client("alice", device: 2)
            let changes: [UserSettings] = [
                UserSettings(receipts: false), UserSettings(typing: false), UserSettings(lastSeen: Audience.none),
                UserSettings(avatar: .contacts), UserSettings(messages: .contacts), UserSettings(add: Audience.none),
                UserSettings(find: .contacts), UserSettings(quietFrom: 60, quietUntil: 120), UserSettings(folders: [Folder(name: "Work")]),
            ]
            let answers = changes.enumerated().map { number, settings in
                (number % 2 == 0 ? phone : desktop).begin(
                    ChatVerbs.settingsSet, SettingsSetRequest(id: .make("s\(number)"), settings: settings))
            }
            for answer in answers { _ = try await answer() }
            let settings = try await phone.ask(ChatVerbs.settings, WireEmpty()).settings
            #expect(settings.receipts == false && settings.typing == false)
            #expect(settings.lastSeen == Audience.none && settings.avatar == .contacts && settings.messages == .contacts)
            #expect(settings.add == Audience.none && settings.find == .contacts)
            #expect(settings.quietFrom == 60 && settings.quietUntil == 120 && settings.folders == [Folder(name: "Work")])
        }
    }

    @Test func quietHoursNeedBothEnds() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            func set(_ id: String, _ settings: UserSettings) async throws {
                _ = try await alice.ask(ChatVerbs.settingsSet, SettingsSetRequest(id: .make(id), settings: settings))
            }
            await #expect { try await set("a", UserSettings(quietFrom: 60)) } throws: { ($0 as? ChatError)?.code == .badRequest }
            try await set("b", UserSettings(quietFrom: 60, quietUntil: 120))
            try await set("c", UserSettings(quietUntil: 180))
            var settings = try await alice.ask(ChatVerbs.settings, WireEmpty()).settings
            #expect(settings.quietFrom == 60 && settings.quietUntil == 180)
            try await set("d", UserSettings(quietFrom: 0, quietUntil: 0))
            settings = try await alice.ask(ChatVerbs.settings, WireEmpty()).settings
            #expect(settings.quietFrom == nil && settings.quietUntil == nil)
        }
    }

    @Test func severalOwnSettingsAreOneRequest() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let pair = try await alice.open("bob")
            let request = OwnSetRequest(
                id: .make("o"), conversation: pair, isPinned: true, isArchived: true, mutedUntil: fixture.now + 60_000, notify: .mentions,
                isMarkedUnread: true)
            let answer = try await alice.ask(ChatVerbs.ownSet, request)
            func own() async throws -> OwnSettings? {
                try await alice.ask(ChatVerbs.sync, SyncRequest()).heads.first { $0.conversation == pair }?.own
            }
            let set = try #require(try await own())
            #expect(set.pinnedAt != nil && set.isArchived && set.mutedUntil == request.mutedUntil && set.notify == .mentions)
            #expect(set.isMarkedUnread)
            _ = try await alice.ask(ChatVerbs.ownSet, OwnSetRequest(id: .make("p"), conversation: pair, isPinned: false, isArchived: false))
            #expect(try await alice.ask(ChatVerbs.ownSet, request) == answer, "the retry")
            let later = try #require(try await own())
            #expect(later.pinnedAt == nil && !later.isArchived && later.notify == .mentions, "a retry changes nothing")
            let folder = OwnSetRequest(id: .make("q"), conversation: pair, isPinned: true, folders: ["None"])
            await #expect { try await alice.ask(ChatVerbs.ownSet, folder) } throws: { ($0 as? ChatError)?.code == .notFound }
            #expect(try await own()?.pinnedAt == nil, "a refused request has no effect")
            await #expect {
                try await alice.ask(ChatVerbs.ownSet, OwnSetRequest(id: .make("r"), conversation: pair))
            } throws: { ($0 as? ChatError)?.code == .badRequest }
        }
    }

    @Test func aReportOfSeveralMessagesIsOneRequest() async throws {
        try await withService { fixture in
            let alice = try await fixture.client("alice")
            let bob = try await fixture.client("bob")
            let pair = try await alice.open("bob")
            let seqs = [try await bob.send("rude", to: pair, id: "m1").seq, try await bob.send("ruder", to: pair, id: "m2").seq]
            let request = ReportRequest(id: .make("r"), conversation: pair, seqs: seqs, reason: .abuse, text: "T")
            for _ in 0..<2 { _ = try await alice.ask(ChatVerbs.report, request) }
            let wrong = ReportRequest(id: .make("s"), conversation: pair, seqs: seqs + [999], reason: .abuse)
            await #expect { try await alice.ask(ChatVerbs.report, wrong) } throws: { ($0 as? ChatError)?.code == .notFound }
            let other = ReportRequest(id: .make("r"), conversation: pair, seqs: seqs, reason: .spam)
            await #expect { try await alice.ask(ChatVerbs.report, other) } throws: { ($0 as? ChatError)?.code == .conflict }
        }
    }
}
