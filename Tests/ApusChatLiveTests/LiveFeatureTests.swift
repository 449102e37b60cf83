import ApusChatClient
import ApusChatProtocol
import Testing

/// Threads, versions, pins, schedules and disappearing messages with a complete server.
@Suite(.timeLimit(.minutes(5)))
struct LiveFeatureTests {
    @Test func aThreadIsReadByAnotherDevice() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let bob = try await fixture.signUp("bob")
            let pair = try await alice.conversation(with: "bob")
            try await pair.send("question")
            let there = bob.conversation(pair.id)
            try await bob.wait { (try? await there.texts) == ["question"] }
            let root = try #require(try await there.storedMessages().messages.last?.seq)
            for text in ["one", "two", "three"] { try await there.send(text, thread: root) }
            try await there.send("elsewhere")
            try await alice.wait { try await pair.texts.count == 5 }
            #expect(try await pair.replies(to: root).messages.compactMap(\.text) == ["question", "one", "two", "three"])
            let first = try await pair.messages(around: root, limit: 2).messages.first { $0.seq == root }
            #expect(first?.event.replies?.count == 3)
            let late = try await fixture.signIn("alice", device: "tablet")
            let thread = late.conversation(pair.id)
            let newest = try await thread.replies(to: root, limit: 2)
            #expect(newest.messages.compactMap(\.text) == ["two", "three"])
            #expect(newest.hasEarlier && !newest.hasLater)
            let earlier = try await thread.replies(to: root, before: newest.messages.first?.seq, limit: 2)
            #expect(earlier.messages.compactMap(\.text) == ["question", "one"])
            let later = try await thread.replies(to: root, after: root, limit: 2)
            #expect(later.messages.compactMap(\.text) == ["one", "two"])
        }
    }

    @Test func versionsPinsReactionsAndDetails() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let group = try await alice.create(.group, title: "Rowing", about: "On the lake")
            try await group.send("first")
            try await alice.wait { try await group.storedMessages().messages.contains { $0.text == "first" } }
            let seq = try #require(try await group.storedMessages().messages.last { $0.text != nil }?.seq)
            try await group.edit(seq, text: "second")
            try await group.edit(seq, text: "third")
            let versions = try await group.versions(of: seq)
            let texts = versions.map { version in if case .text(let body)? = version.body { body.text } else { "" } }
            #expect(texts == ["first", "second", "third"])
            try await group.pin(seq)
            try await alice.wait { (try? await group.head.pins) == [seq] }
            #expect(try await group.pins.compactMap(\.text) == ["third"])
            try await group.react(to: seq, with: "👍")
            let page = try await group.reactions(to: seq)
            #expect(page.reactions == [Reaction(user: alice.user, key: "👍")] && page.next == nil)
            let info = try await group.info()
            #expect(info.about == "On the lake" && info.creator == alice.user && info.settings?.join == .closed)
            #expect(try await group.members(state: .banned).members.isEmpty)
            #expect(try await group.members().members.map(\.user.name) == [alice.user])
            #expect(try await alice.directory(matching: "Rowing").conversations.isEmpty)
            #expect(try await alice.people(matching: "alice").next == nil)
        }
    }

    @Test func ownSettingsReachTheListAndOtherDevices() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let phone = try await fixture.signIn("alice", device: "phone")
            let group = try await alice.create(.group, title: "Rowing")
            try await alice.set(UserSettings(folders: [Folder(name: "Club")]))
            try await group.setOwn(isPinned: true, isArchived: true, mutedUntil: 9, notify: .mentions, folders: ["Club"])
            let own = try await group.head.own
            #expect(own.pinnedAt != nil && own.isArchived && own.mutedUntil == 9 && own.notify == .mentions && own.folders == ["Club"])
            try await phone.wait { (try? await phone.conversation(group.id).head.own) == (try? await group.head.own) }
            try await group.setOwn(isPinned: false, isArchived: false, folders: [])
            let changed = try await group.head.own
            #expect(changed.pinnedAt == nil && !changed.isArchived && changed.folders.isEmpty)
        }
    }

    @Test func theSearchIsOfTheServerAndOfTheStore() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let notes = try #require(await alice.notes)
            let group = try await alice.create(.group, title: "Rowing")
            try await notes.send("the quagga sleeps")
            try await group.send("a quagga 斑驴 rows")
            try await alice.wait {
                let (one, other) = (try await notes.unsent, try await group.unsent)
                return one.isEmpty && other.isEmpty
            }
            func found(_ text: String, _ filter: ChatSearchFilter = .init()) async throws -> Set<String> {
                Set(try await alice.searchAll(text, filter).hits.compactMap(\.message.text))
            }
            // The index of the server may not have all messages yet. The store has the others.
            #expect(try await found("quagga") == ["the quagga sleeps", "a quagga 斑驴 rows"])
            #expect(try await found("驴") == ["a quagga 斑驴 rows"])
            #expect(try await found("quagga", ChatSearchFilter(conversation: group.id)) == ["a quagga 斑驴 rows"])
            #expect(try await alice.searchAll("quagga").isStoredOnly == false)
            await fixture.stopServer()
            try await alice.wait { await alice.state == .connecting }
            let page = try await alice.searchAll("quagga")
            #expect(page.isStoredOnly && page.hits.count == 2 && page.next == nil)
            try await fixture.startServer()
        }
    }

    @Test @MainActor func aLongListOfMembersHasPages() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let group = try await alice.create(.group, title: "Rowing")
            try await fixture.server.addMembers(250, to: group.id)
            let model = MembersModel(client: alice, conversation: group.id)
            await model.load()
            #expect(model.members.count == 100 && model.total == 251 && model.hasMore)
            await model.loadMore()
            await model.loadMore()
            #expect(Set(model.members.map(\.user.name)).count == 251 && !model.hasMore)
            await model.loadMore()
            #expect(model.members.count == 251)
            await model.load(matching: "m24")
            #expect(Set(model.members.map(\.user.name.rawValue)) == Set(["m24"] + (0...9).map { "m24\($0)" }) && model.total == 11)
            #expect(model.error == nil && !model.isLoading)
        }
    }

    @Test func aMessageIsScheduledListedAndRemoved() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let notes = try #require(await alice.notes)
            let time = fixture.clock.now + 3_600_000
            let later = try await notes.schedule(.text(TextBody(text: "later")), at: time)
            #expect(later.sendAt == time)
            #expect(try await notes.scheduled().messages == [later])
            #expect(try await alice.scheduled().messages == [later])
            try await alice.unschedule(later.id)
            #expect(try await alice.scheduled().messages.isEmpty)
        }
    }

    @Test func aMessageDisappearsByTheClockOfTheServer() async throws {
        try await withLiveServer { fixture in
            let alice = try await fixture.signUp("alice")
            let group = try await alice.create(.group, title: "Secrets")
            var settings = ConversationSettingsChange()
            settings.expire = 60
            try await group.set(settings: settings)
            try await group.send("gone soon")
            try await alice.wait {
                let (unsent, texts) = (try await group.unsent, try await group.texts)
                return unsent.isEmpty && texts == ["gone soon"]
            }
            fixture.clock.pass(milliseconds: 61_000)
            await fixture.relay.cut()
            try await alice.wait { try await group.texts.isEmpty }
            #expect(try await group.storedMessages().messages.contains { $0.event.state == .expired })
            #expect(try await alice.searchStored("gone").isEmpty)
        }
    }
}
