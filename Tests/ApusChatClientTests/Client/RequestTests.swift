import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// The requests of the SDK's methods, and the values that it returns for the answers of the
/// reference.
@Suite("Requests of the client")
struct RequestTests {
    private struct Fixture {
        let server = FakeServer()
        let device: TestDevice
        let client: ChatClient
        let chat: ChatConversation
        let group: ConversationID

        init() async throws {
            for name in [Value.alice, Value.bob] { self.server.user(name) }
            self.group = self.server.conversation(.group, [Value.alice, Value.bob])
            self.server.write("hello", by: Value.bob, in: self.group)
            self.device = try TestDevice(self.server)
            self.client = try await self.device.signIn()
            try await self.client.isOnline()
            let chat = self.client.conversation(self.group)
            self.chat = chat
            try await eventually { try await chat.texts == ["hello"] }
            for verb in ChatReference.verbs where !["hello", "sync", "history", "send", "mark", "subscribe"].contains(verb.name) {
                self.server.script(verb.name, try JSONReader.read(verb.examples.answer))
            }
            let head = try await self.chat.head.json
            for verb in ["conversation.open", "conversation.create"] { self.server.script(verb, ["head": head]) }
            self.server.script("member.join", ["conv": .string(self.group.rawValue), "id": "x", "at": 1, "head": head])
        }

        /// Returns the last request of a verb without its id, and without its conversation if that
        /// is the group.
        func request(_ verb: String) -> JSONValue? {
            guard var fields = self.server.requests(of: verb).last?.objectValue else { return nil }
            if fields["conv"]?.stringValue == self.group.rawValue { fields["conv"] = nil }
            fields["id"] = nil
            return .object(fields)
        }

        /// Performs a call and compares the request that it sent.
        func check(
            _ verb: String, _ request: JSONValue, _ call: (ChatClient, ChatConversation) async throws -> Void
        ) async throws {
            let before = self.server.count(of: verb)
            try await call(self.client, self.chat)
            #expect(self.server.count(of: verb) == before + 1 && self.request(verb) == request, "\(verb)")
        }

        func end() async {
            await self.client.close()
            self.device.remove()
        }
    }

    @Test func conversationsSendTheirRequests() async throws {
        let code = try #require(LinkCode("k7Qm2ZtX9bVw4NsA"))
        let carol = Value.name("carol")
        let blob = try #require(BlobID(String(repeating: "0f", count: 32)))
        let page = Value.token("p")
        let fixture = try await Fixture()
        try await fixture.check("members", ["query": "bo", "state": "banned"]) { (_, chat) async throws in
            let found = try await chat.members(matching: "bo", state: .banned)
            #expect(found.members.map(\.user.nick) == ["Bob"] && found.total == 3 && found.next != nil)
        }
        try await fixture.check("members", ["page": "p"]) { (_, chat) async throws in _ = try await chat.members(after: page) }
        try await fixture.check("member.add", ["users": ["carol"]]) { (_, chat) async throws in
            #expect(try await chat.add([carol]) == [carol])
        }
        try await fixture.check("member.answer", ["accept": false]) { (_, chat) async throws in
            try await chat.answerInvitation(accepts: false)
        }
        try await fixture.check("member.approve", ["user": "carol", "accept": false]) { (_, chat) async throws in
            try await chat.approve(carol, accepts: false)
        }
        try await fixture.check("member.ban", ["users": ["carol"], "until": 9]) { (_, chat) async throws in
            try await chat.ban([carol], until: 9)
        }
        try await fixture.check("member.mute", ["users": ["carol"], "until": 0]) { (_, chat) async throws in
            try await chat.mute([carol], until: nil)
        }
        try await fixture.check("link.create", ["role": "reader", "expires_at": 9, "uses": 2]) { (_, chat) async throws in
            let link = try await chat.createLink(role: .reader, expiresAt: 9, uses: 2)
            #expect(link.code == code && link.needsApproval && link.used == 0)
        }
        try await fixture.check("link.list", [:]) { (_, chat) async throws in #expect(try await chat.links().map(\.code) == [code]) }
        try await fixture.check("link.revoke", ["code": "k7Qm2ZtX9bVw4NsA"]) { (_, chat) async throws in try await chat.revoke(code) }
        try await fixture.check("conversation.set", ["title": "T", "about": "A", "avatar": .string(blob.rawValue)]) {
            (_, chat) async throws in
            try await chat.set(title: "T", about: "A", avatar: .set(blob))
        }
        try await fixture.check("conversation.set", ["avatar": ""]) { (_, chat) async throws in try await chat.set(avatar: .remove) }
        let own: JSONValue = ["pinned": true, "archived": false, "muted_until": 5, "marked_unread": true, "folders": ["F"]]
        try await fixture.check("own.set", own) { (_, chat) async throws in
            try await chat.setOwn(isPinned: true, isArchived: false, mutedUntil: 5, isMarkedUnread: true, folders: ["F"])
        }
        try await fixture.check("own.set", ["folders": []]) { (_, chat) async throws in try await chat.setOwn(folders: []) }
        try await fixture.check("conversation.delete", ["for_all": true]) { (_, chat) async throws in try await chat.delete(forAll: true) }
        try await fixture.check("reactions", ["ref": 1, "key": "👍", "page": "p"]) { (_, chat) async throws in
            let found = try await chat.reactions(to: 1, key: "👍", after: page)
            #expect(found.reactions.map(\.user.rawValue) == ["alice"] && found.next == nil)
        }
        try await fixture.check("readers", ["seq": 1]) { (_, chat) async throws in
            #expect(try await chat.readers(of: 1).map { [$0.isRead, $0.isReceived] } == [[true, true]])
        }
        let later: JSONValue = ["kind": "text", "body": ["text": "x"], "ref": 1, "thread": 2, "silent": true, "send_at": 9]
        try await fixture.check("schedule", later) { (_, chat) async throws in
            let message = try await chat.schedule(.text(TextBody(text: "x")), at: 9, replyTo: 1, thread: 2, isSilent: true)
            #expect(message.sendAt == 1_790_086_400_000)
        }
        try await fixture.check("scheduled", ["page": "p"]) { (_, chat) async throws in
            #expect(try await chat.scheduled(after: page).messages.count == 1)
        }
        await fixture.end()
    }

    @Test func forwardedMessagesNameTheirSource() async throws {
        let fixture = try await Fixture()
        try await fixture.chat.forward([1], to: Value.other, isAnonymous: true)
        #expect(
            fixture.request("forward") == [
                "conv": .string(Value.other.rawValue), "from": .string(fixture.group.rawValue), "seqs": [1], "anonymous": true,
            ])
        try await fixture.chat.forward([1], to: Value.other, bundledAs: "Plans")
        #expect(fixture.request("forward")?["bundle"] == true && fixture.request("forward")?["title"] == "Plans")
        await fixture.end()
    }

    @Test func theClientSendsItsRequests() async throws {
        let device = try #require(DeviceID("2d3e4v5c6e7a8"))
        let page = Value.token("p")
        let fixture = try await Fixture()
        try await fixture.check("people", ["query": "bob", "page": "p"]) { (client, _) async throws in
            let found = try await client.people(matching: "bob", after: page)
            #expect(found.users.map(\.nick) == ["Bob"] && found.next != nil)
            #expect(await client.user(Value.bob)?.status == "At the harbour")  // the client caches the user
        }
        try await fixture.check("contacts", ["state": "blocked", "page": "p"]) { (client, _) async throws in
            #expect(try await client.contacts(.blocked, after: page).contacts.map(\.alias) == ["Bobby"])
        }
        try await fixture.check("contact.request", ["user": "bob", "text": "T", "alias": "A"]) { (client, _) async throws in
            try await client.requestContact(Value.bob, text: "T", alias: "A")
        }
        try await fixture.check("contact.alias", ["user": "bob", "alias": ""]) { (client, _) async throws in
            try await client.setAlias("", of: Value.bob)
        }
        try await fixture.check("block", ["user": "bob"]) { (client, _) async throws in try await client.block(Value.bob) }
        try await fixture.check("unblock", ["user": "bob"]) { (client, _) async throws in try await client.block(Value.bob, isOn: false) }
        try await fixture.check("report", ["user": "bob", "reason": "spam"]) { (client, _) async throws in
            try await client.report(user: Value.bob, reason: .spam)
        }
        try await fixture.check("profile.set", ["nick": "Al", "status": ""]) { (client, _) async throws in
            try await client.setProfile(nick: "Al", status: "")
        }
        try await fixture.check("profile.set", ["avatar": ""]) { (client, _) async throws in try await client.removeAvatar() }
        try await fixture.check("settings", [:]) { (client, _) async throws in
            let settings = try await client.settings()
            #expect(settings.quietFrom == 1_320 && settings.folders?.map(\.name) == ["Friends", "Unread"])
        }
        try await fixture.check("settings.set", ["settings": ["receipts": false, "folders": []]]) { (client, _) async throws in
            var settings = UserSettings()
            (settings.receipts, settings.folders) = (false, [])
            try await client.set(settings)
        }
        try await fixture.check("devices", [:]) { (client, _) async throws in #expect(try await client.devices().map(\.isCurrent) == [true])
        }
        try await fixture.check("device.remove", ["device": "2d3e4v5c6e7a8"]) { (client, _) async throws in try await client.signOut(device)
        }
        try await fixture.check("device.remove", ["others": true]) { (client, _) async throws in try await client.signOutOthers() }
        try await fixture.check("conversation.open", ["user": "dave"]) { (client, chat) async throws in
            #expect(try await client.conversation(with: "Dave").id == chat.id)
        }
        let create: JSONValue = ["kind": "channel", "title": "T", "about": "A", "users": ["bob"]]
        try await fixture.check("conversation.create", create) { (client, chat) async throws in
            #expect(try await client.create(.channel, title: "T", about: "A", users: [Value.bob]).id == chat.id)
        }
        try await fixture.check("directory", ["query": "row", "page": "p"]) { (client, _) async throws in
            #expect(try await client.directory(matching: "row", after: page).conversations.map(\.members) == [812])
        }
        try await fixture.check("link.info", ["code": "k7Qm2ZtX9bVw4NsA"]) { (client, _) async throws in
            let info = try await client.info(of: try #require(LinkCode("k7Qm2ZtX9bVw4NsA")))
            #expect(info.title == "Rowing club" && info.join == .open)
        }
        try await fixture.check("member.join", ["link": "k7Qm2ZtX9bVw4NsA"]) { (client, chat) async throws in
            #expect(try await client.join(try #require(LinkCode("k7Qm2ZtX9bVw4NsA"))).id == chat.id)
        }
        try await fixture.check("member.join", ["conv": .string(Value.room.rawValue)]) { (client, chat) async throws in
            #expect(try await client.join(Value.room).id == chat.id)
        }
        try await fixture.check("scheduled", [:]) { (client, _) async throws in #expect(try await client.scheduled().messages.count == 1) }
        try await fixture.check("unschedule", ["of": "m1"]) { (client, _) async throws in try await client.unschedule(Value.id("m1")) }
        await fixture.end()
    }

    @Test func aSearchAsksTheServerAndTheStore() async throws {
        let fixture = try await Fixture()
        let filter = ChatSearchFilter(conversation: Value.room, sender: Value.bob, kinds: [.text], from: 1, until: 2)
        let page = try await fixture.client.search("harbour", filter, after: Value.token("p"))
        #expect(
            fixture.request("search") == [
                "query": "harbour", "conv": .string(Value.room.rawValue), "sender": "bob", "kinds": ["text"], "from_at": 1, "until_at": 2,
                "page": "p",
            ])
        #expect(page.hits.map(\.snippet) == ["See you at six"] && !page.isStoredOnly)
        #expect(page.hits[0].message.delivery == nil)
        fixture.server.setReachable(false)
        fixture.server.disconnectAll()
        try await eventually { await fixture.client.state != .online }
        let stored = try await fixture.client.searchAll("hello")
        #expect(stored.isStoredOnly && stored.hits.map(\.message.text) == ["hello"])
        #expect(try await fixture.client.searchStored("hello", .init(sender: Value.alice)).isEmpty)
        await fixture.end()
    }

    @Test func anEditedMessageHasItsVersions() async throws {
        let fixture = try await Fixture()
        let versions = try await fixture.chat.versions(of: 1)
        #expect(versions.first?.body == .text(TextBody(text: "hello")) && versions.first?.seq == 1)
        #expect(fixture.request("history")?["edits"] == 1)
        await fixture.end()
    }

    @Test(arguments: [ChatError.Code.notFound, .forbidden, .limit, .tooLate])
    func aJoinThatIsRefusedAddsNoConversation(code: ChatError.Code) async throws {
        let fixture = try await Fixture()
        fixture.server.script("member.join", ChatError(code, message: "M").json)
        let link = try #require(LinkCode("k7Qm2ZtX9bVw4NsA"))
        let before = await fixture.client.heads.map(\.conversation)
        for byLink in [true, false] {
            do throws(ChatClientError) {
                _ = try await byLink ? fixture.client.join(link) : fixture.client.join(Value.room)
                Issue.record("not refused")
            } catch {
                #expect(error.serverError?.code == code)
            }
        }
        #expect(await fixture.client.heads.map(\.conversation) == before)
        await fixture.end()
    }

    /// The client refuses an invalid name without a request.
    @Test(arguments: ["", "a b", "b/b", String(repeating: "a", count: 33)])
    func aWrongNameIsNotSent(name: String) async throws {
        let fixture = try await Fixture()
        await #expect(throws: ChatClientError.self) { try await fixture.client.conversation(with: name) }
        #expect(fixture.server.count(of: "conversation.open") == 0)
        #expect(throws: ChatClientError.self) { try fixture.device.accounts.account(server: "http://chat.test", user: name) }
        await fixture.end()
    }

    @Test(arguments: ChatError.Code.allCases.filter { $0 != .unknown && $0 != .unauthorized })
    func refusalsKeepTheirCode(code: ChatError.Code) async throws {
        let fixture = try await Fixture()
        let refusal = ChatError(code, message: "M", field: "user", retryAfter: 5)
        fixture.server.script("block", refusal.json)
        do {
            try await fixture.client.block(Value.bob)
            Issue.record("not refused")
        } catch {
            #expect(error.serverError == refusal && error.code == (code == .notFound ? .notFound : .refused))
        }
        #expect(fixture.server.count(of: "block") == 1)
        await fixture.end()
    }

    @Test(arguments: [JSONValue.null, [], "x", 7, ["conv": 1], ["error": "x"]])
    func anotherAnswerIsNotTaken(answer: JSONValue) async throws {
        let fixture = try await Fixture()
        fixture.server.script("block", answer)
        await #expect(throws: ChatClientError.self) { try await fixture.client.block(Value.bob) }
        fixture.server.script("members", answer)
        do {
            _ = try await fixture.chat.members()
            Issue.record("accepted \(answer)")
        } catch {
            #expect(error.code == .badAnswer && error.message.contains("`members`"))
        }
        await fixture.end()
    }

    @Test func aClosedClientSendsNothing() async throws {
        let fixture = try await Fixture()
        await fixture.client.close()
        do {
            try await fixture.client.block(Value.bob)
            Issue.record("not refused")
        } catch { #expect(error.code == .closed) }
        let code = try #require(LinkCode("k7Qm2ZtX9bVw4NsA"))
        await #expect(throws: ChatClientError.self) { try await fixture.client.join(code) }
        await #expect(throws: ChatClientError.self) { try await fixture.client.join(Value.room) }
        #expect(fixture.server.count(of: "block") == 0 && fixture.server.count(of: "member.join") == 0)
        fixture.device.remove()
    }
}
