import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Foundation
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatClient

/// The changes that a user makes without a connection: which are stored, which wait, and how those
/// that wait end.
@Suite("Changes without a connection", .timeLimit(.minutes(5)))
struct ChangeRetryTests {
    /// A change that waits for a connection.
    struct Change: Sendable, CustomTestStringConvertible {
        let verb: String
        let testDescription: String
        let perform: @Sendable (ChatClient, ChatConversation) async throws -> Void

        init(_ verb: String, _ detail: String = "", _ perform: @escaping @Sendable (ChatClient, ChatConversation) async throws -> Void) {
            self.verb = verb
            self.testDescription = detail.isEmpty ? verb : "\(verb) (\(detail))"
            self.perform = perform
        }
    }

    private static let carol = Value.name("carol")
    private static let code = LinkCode("k7Qm2ZtX9bVw4NsA")

    static let changes: [Change] = [
        Change("edit") { (_, chat) async throws in try await chat.edit(1, text: "new") },
        Change("recall") { (_, chat) async throws in try await chat.recall(1) },
        Change("preview.remove") { (_, chat) async throws in try await chat.removePreview(1) },
        Change("hide") { (_, chat) async throws in try await chat.hide([1]) },
        Change("react") { (_, chat) async throws in try await chat.react(to: 1, with: "👍") },
        Change("vote") { (_, chat) async throws in try await chat.vote(1, options: [0]) },
        Change("poll.close") { (_, chat) async throws in try await chat.closePoll(1) },
        Change("pin") { (_, chat) async throws in try await chat.pin(1) },
        Change("forward") { (_, chat) async throws in try await chat.forward([1], to: Value.other) },
        Change("schedule") { (_, chat) async throws in _ = try await chat.schedule(.text(TextBody(text: "x")), at: 9) },
        Change("unschedule") { (client, _) async throws in try await client.unschedule(Value.id("m1")) },
        Change("own.set", "pinned") { (_, chat) async throws in try await chat.setOwn(isPinned: true) },
        Change("own.set", "archived") { (_, chat) async throws in try await chat.setOwn(isArchived: true) },
        Change("own.set", "muted") { (_, chat) async throws in try await chat.setOwn(mutedUntil: 9) },
        Change("own.set", "folders") { (_, chat) async throws in try await chat.setOwn(folders: ["F"]) },
        Change("own.set", "unread") { (_, chat) async throws in try await chat.setOwn(isMarkedUnread: true) },
        Change("profile.set") { (client, _) async throws in try await client.setProfile(nick: "Al") },
        Change("settings.set") { (client, _) async throws in
            var settings = UserSettings()
            settings.receipts = false
            try await client.set(settings)
        },
        Change("contact.request") { (client, _) async throws in try await client.requestContact(Self.carol) },
        Change("contact.answer") { (client, _) async throws in try await client.answerContact(Self.carol, accepts: true) },
        Change("contact.remove") { (client, _) async throws in try await client.removeContact(Self.carol) },
        Change("contact.alias") { (client, _) async throws in try await client.setAlias("C", of: Self.carol) },
        Change("block") { (client, _) async throws in try await client.block(Self.carol) },
        Change("unblock") { (client, _) async throws in try await client.block(Self.carol, isOn: false) },
        Change("report") { (client, _) async throws in try await client.report(user: Self.carol, reason: .spam) },
        Change("device.remove") { (client, _) async throws in try await client.signOutOthers() },
        Change("conversation.create") { (client, _) async throws in _ = try await client.create(title: "T") },
        Change("conversation.open") { (client, _) async throws in _ = try await client.conversation(with: "carol") },
        Change("member.join") { (client, _) async throws in _ = try await client.join(try #require(Self.code)) },
        Change("conversation.set") { (_, chat) async throws in try await chat.set(title: "T") },
        Change("conversation.delete") { (_, chat) async throws in try await chat.delete() },
        Change("member.add") { (_, chat) async throws in _ = try await chat.add([Self.carol]) },
        Change("member.answer") { (_, chat) async throws in try await chat.answerInvitation(accepts: true) },
        Change("member.approve") { (_, chat) async throws in try await chat.approve(Self.carol) },
        Change("member.leave") { (_, chat) async throws in try await chat.leave() },
        Change("member.remove") { (_, chat) async throws in try await chat.remove([Self.carol]) },
        Change("member.ban") { (_, chat) async throws in try await chat.ban([Self.carol]) },
        Change("member.unban") { (_, chat) async throws in try await chat.unban([Self.carol]) },
        Change("member.role") { (_, chat) async throws in try await chat.setRole(.admin, of: [Self.carol]) },
        Change("member.mute") { (_, chat) async throws in try await chat.mute([Self.carol], until: 9) },
        Change("link.create") { (_, chat) async throws in _ = try await chat.createLink() },
        Change("link.revoke") { (_, chat) async throws in try await chat.revoke(try #require(Self.code)) },
    ]

    /// The result of a change that a task performs.
    private final class Outcome: Sendable {
        private let result = NIOLockedValueBox<Result<Void, any Error>?>(nil)

        init(_ change: Change, _ client: ChatClient, _ chat: ChatConversation) {
            Task {
                let result: Result<Void, any Error>
                do { result = .success(try await change.perform(client, chat)) } catch { result = .failure(error) }
                self.result.withLockedValue { $0 = result }
            }
        }

        var isKnown: Bool { self.result.withLockedValue { $0 != nil } }

        /// Waits for the end of the change, for at most 60 seconds. Returns its error.
        func error() async throws -> ChatClientError? {
            try await eventually { self.isKnown }
            do { try self.result.withLockedValue { $0 }?.get() } catch { return try #require(error as? ChatClientError) }
            return nil
        }
    }

    private struct Fixture {
        let server = FakeServer()
        let device: TestDevice
        let client: ChatClient
        let chat: ChatConversation

        init(changePatience: Duration = .seconds(600)) async throws {
            for name in [Value.alice, Value.bob] { self.server.user(name) }
            let group = self.server.conversation(.group, [Value.alice, Value.bob])
            self.server.write("hello", by: Value.bob, in: group)
            self.device = try TestDevice(self.server, changePatience: changePatience)
            self.client = try await self.device.signIn()
            try await self.client.isOnline()
            let chat = self.client.conversation(group)
            self.chat = chat
            let client = self.client
            try await eventually { try await chat.texts == ["hello"] }
            // Otherwise the request for the profile of bob would also wait.
            try await eventually { await client.user(Value.bob) != nil }
            let decided: Set = ["hello", "sync", "history", "send", "mark", "draft", "typing", "subscribe", "members", "users", "contacts"]
            for verb in ChatReference.verbs where !decided.contains(verb.name) {
                self.server.script(verb.name, try JSONReader.read(verb.examples.answer))
            }
            let head = try await chat.head.json
            for verb in ["conversation.open", "conversation.create"] { self.server.script(verb, ["head": head]) }
            self.server.script("member.join", ["conv": .string(group.rawValue), "id": "x", "at": 1, "head": head])
        }

        func disconnect() async throws {
            self.server.setReachable(false)
            self.server.disconnectAll()
            let client = self.client
            try await eventually { await client.state == .connecting }
        }

        /// Starts a change without a connection, and waits until it waits for the connection.
        func start(_ change: Change) async throws -> Outcome {
            try await self.disconnect()
            let outcome = Outcome(change, self.client, self.chat)
            let engine = self.client.engine
            try await eventually { await engine.waiters.count == 1 || outcome.isKnown }
            #expect(!outcome.isKnown && self.server.count(of: change.verb) == 0)
            return outcome
        }

        func end() async {
            await self.client.close()
            self.device.remove()
        }
    }

    // MARK: Changes that wait

    @Test(arguments: Self.changes) func aChangeWaitsForTheConnectionAndIsSentOnce(_ change: Change) async throws {
        let fixture = try await Fixture()
        let outcome = try await fixture.start(change)
        fixture.server.setReachable(true)
        #expect(try await outcome.error() == nil)
        #expect(fixture.server.count(of: change.verb) == 1)
        await fixture.end()
    }

    @Test(arguments: Self.changes) func aChangeWithoutAConnectionFailsAndIsNotSentLater(_ change: Change) async throws {
        let fixture = try await Fixture(changePatience: .seconds(1))
        try await fixture.disconnect()
        #expect(try await Outcome(change, fixture.client, fixture.chat).error()?.code == .notConnected)
        fixture.server.setReachable(true)
        try await fixture.client.isOnline()
        // The answer to a later request shows that nothing was sent before.
        _ = try await fixture.client.devices()
        #expect(fixture.server.count(of: change.verb) == 0)
        await fixture.end()
    }

    /// The server recognizes the repetition by its id, and performs the change once.
    @Test(arguments: Self.changes) func aLostAnswerRepeatsTheSameRequest(_ change: Change) async throws {
        let fixture = try await Fixture()
        fixture.server.loseAnswer(to: change.verb)
        #expect(try await Outcome(change, fixture.client, fixture.chat).error() == nil)
        let requests = fixture.server.requests(of: change.verb)
        #expect(requests.count == 2 && requests.first == requests.last && requests.first?["id"]?.stringValue != nil)
        await fixture.end()
    }

    /// In the log of a restored server, the position of a message can be that of another one.
    @Test(arguments: Self.changes) func aChangeForReplacedDataFails(_ change: Change) async throws {
        let fixture = try await Fixture()
        let outcome = try await fixture.start(change)
        fixture.server.renewEpoch()
        fixture.server.setReachable(true)
        let error = try #require(try await outcome.error())
        #expect(error.code == .notConnected && error.message.contains("replaced"))
        #expect(fixture.server.count(of: change.verb) == 0)
        await fixture.end()
    }

    @Test func aChangeThatWaitsEndsWithTheSession() async throws {
        let fixture = try await Fixture()
        let outcome = try await fixture.start(Self.changes[0])
        fixture.server.revoke()
        fixture.server.setReachable(true)
        #expect(try await outcome.error()?.code == .signedOut)
        // Later changes fail immediately.
        #expect(try await Outcome(Self.changes[1], fixture.client, fixture.chat).error()?.code == .signedOut)
        await fixture.end()
    }

    @Test func aChangeThatWaitsEndsWithTheClient() async throws {
        let fixture = try await Fixture()
        let outcome = try await fixture.start(Self.changes[0])
        await fixture.client.close()
        #expect(try await outcome.error()?.code == .closed)
        await fixture.end()
    }

    @Test func aRefusalOfTheServerIsNotRepeated() async throws {
        let fixture = try await Fixture()
        let outcome = try await fixture.start(Self.changes[0])
        fixture.server.fail("edit", with: ChatError(.tooLate, message: "too late"))
        fixture.server.setReachable(true)
        let error = try await outcome.error()
        #expect(error?.code == .refused && error?.serverError?.code == .tooLate && fixture.server.count(of: "edit") == 1)
        await fixture.end()
    }

    // MARK: Changes that are stored

    @Test func messagesReadPositionsAndDraftsAreSentAfterARestart() async throws {
        let fixture = try await Fixture()
        try await fixture.disconnect()
        let message = try #require(try await fixture.chat.storedMessages().messages.first)
        await fixture.chat.markRead(message)
        try await fixture.chat.send("one")
        try await fixture.chat.setDraft("half", sends: true)
        #expect(try await fixture.chat.head.unread == 0)
        // Other marks report received messages.
        let reads: @Sendable () -> [JSONValue] = { fixture.server.requests(of: "mark").compactMap { $0["read"] } }
        #expect(reads().isEmpty && fixture.server.count(of: "send") == 0 && fixture.server.count(of: "draft") == 0)
        await fixture.client.close()
        let again = try TestDevice(fixture.server, folder: fixture.device.folder)
        let client = try await again.accounts.open(try #require(again.accounts.current))
        let chat = client.conversation(fixture.chat.id)
        #expect(try await chat.head.unread == 0)
        #expect(try await chat.draft?.text == "half")
        #expect(try await chat.unsent.map(\.text) == ["one"])
        fixture.server.setReachable(true)
        try await client.isOnline()
        try await eventually { fixture.server.texts(in: chat.id, as: Value.bob) == ["hello", "one"] }
        try await eventually { !reads().isEmpty && fixture.server.count(of: "draft") > 0 }
        #expect(reads().first == 1)
        #expect(fixture.server.requests(of: "draft").first?["text"] == "half")
        try await eventually { try await chat.unsent.isEmpty }
        try await eventually { try client.store.unsentDrafts().isEmpty }
        await client.close()
        fixture.device.remove()
    }

    // MARK: Changes that do not wait

    @Test func aNoticeThatTheUserWritesIsDiscarded() async throws {
        let fixture = try await Fixture()
        try await fixture.disconnect()
        await fixture.chat.setTyping(true)
        fixture.server.setReachable(true)
        try await fixture.client.isOnline()
        _ = try await fixture.client.devices()
        #expect(fixture.server.count(of: "typing") == 0)
        await fixture.end()
    }

    @Test func changesOfTheAccountFailImmediately() async throws {
        let fixture = try await Fixture()
        try await fixture.disconnect()
        let picture = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: picture))
        let changes = [
            Change("password") { (client, _) async throws in try await client.changePassword(from: "old", to: "new") },
            Change("totp") { (client, _) async throws in _ = try await client.makeAuthenticator(password: "old") },
            Change("totp/confirm") { (client, _) async throws in try await client.confirmAuthenticator(code: "123456") },
            Change("totp/delete") { (client, _) async throws in try await client.removeAuthenticator(password: "old") },
            Change("recovery") { (client, _) async throws in _ = try await client.makeRecoveryCodes(password: "old") },
            Change("account/delete") { (client, _) async throws in try await client.deleteAccount(password: "old") },
            Change("avatar") { (client, _) async throws in try await client.setAvatar(file: picture, type: "image/png") },
        ]
        for change in changes {
            let code = try await Outcome(change, fixture.client, fixture.chat).error()?.code
            #expect(code == .unreachable, "\(change.testDescription)")
        }
        #expect(await fixture.client.state == .connecting, "the session has not ended")
        try FileManager.default.removeItem(atPath: picture)
        await fixture.end()
    }
}
