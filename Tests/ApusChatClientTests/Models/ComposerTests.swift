import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

@MainActor @Suite("Composer, members and search")
struct ComposerTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID
    let group: ConversationID

    init() throws {
        for name in [Value.alice, Value.bob, Value.name("bobby")] { self.server.user(name) }
        self.pair = self.server.conversation(.pair, [Value.alice, Value.bob])
        self.group = self.server.conversation(.group, [Value.alice, Value.bob])
        self.device = try TestDevice(self.server)
    }

    private func client() async throws -> ChatClient {
        let client = try await self.device.signIn()
        try await client.isOnline()
        return client
    }

    private func end(_ client: ChatClient) async {
        await client.close()
        self.device.remove()
    }

    @Test func nothingIsSentWithoutContent() async throws {
        let client = try await self.client()
        let composer = ComposerModel(client: client, conversation: self.pair)
        for text in ["", " ", "\n\t"] {
            composer.text = text
            #expect(!composer.canSend)
            await composer.send()
        }
        #expect(try await client.unsent.isEmpty && self.server.count(of: "send") == 0)
        await self.end(client)
    }

    @Test func aReplyIsSentOnceAsOne() async throws {
        let client = try await self.client()
        self.server.write("question", by: Value.bob, in: self.pair)
        let chat = client.conversation(self.pair)
        try await eventually { try await chat.texts == ["question"] }
        let composer = ComposerModel(client: client, conversation: self.pair)
        let question = try #require(try await chat.storedMessages().messages.first)
        composer.reply(to: question)
        #expect(composer.mode == .reply(question))
        for text in ["**answer**", "another"] {
            composer.text = text
            await composer.send()
            #expect(composer.text.isEmpty && composer.mode == .new && composer.error == nil)
        }
        try await eventually { self.server.requests(of: "send").count == 2 }
        let requests = self.server.requests(of: "send")
        #expect(requests.map { $0["ref"] } == [1, nil] && requests[0]["body"]?["text"] == "answer")
        composer.reply(to: question)
        composer.cancel()
        #expect(composer.mode == .new)
        await self.end(client)
    }

    @Test func onlyOwnMessagesAreEdited() async throws {
        let client = try await self.client()
        let chat = client.conversation(self.pair)
        try await chat.send(.text(TextBody(text: "so bold", entities: [TextEntity(kind: .bold, offset: 3, length: 4)])))
        self.server.write("not mine", by: Value.bob, in: self.pair)
        try await eventually { try await chat.storedMessages().messages.compactMap(\.seq).count == 2 }
        try await eventually { try await chat.unsent.isEmpty }
        let rows = try await chat.storedMessages().messages
        let composer = ComposerModel(client: client, conversation: self.pair)
        composer.edit(try #require(rows.first { !$0.isOwn }))
        #expect(composer.mode == .new && composer.text.isEmpty)
        let own = try #require(rows.first { $0.isOwn })
        composer.edit(own)
        #expect(composer.mode == .edit(own) && composer.text == "so **bold**")
        composer.text += "!"
        await composer.send()
        #expect(composer.mode == .new && composer.text.isEmpty)
        #expect(self.server.requests(of: "edit").last?["body"]?["text"] == "so bold!")
        // An edit that is cancelled leaves no text in the input.
        composer.edit(own)
        composer.cancel()
        #expect(composer.text.isEmpty && composer.mode == .new)
        await self.end(client)
    }

    @Test func anEditOfACaptionKeepsTheFileAndTheFormats() async throws {
        let client = try await self.client()
        let bold = TextEntity(kind: .bold, offset: 3, length: 4)
        let blob = try #require(BlobID(String(repeating: "a", count: 64)))
        let body = FileBody(blob: blob, name: "a.txt", size: 3, type: "text/plain", text: "so bold", entities: [bold])
        let event = ChatEvent(
            conversation: self.pair, seq: 7, n: 7, sender: client.user, id: nil, at: 1, kind: .file, body: ChatBody.file(body).fields)
        self.server.script("edit", ["conv": .string(self.pair.rawValue), "id": "x", "seq": 8, "at": 1])
        let composer = ComposerModel(client: client, conversation: self.pair)
        composer.edit(ChatMessage(event: event, delivery: .sent))
        #expect(composer.text == "so **bold**")
        composer.text += "!"
        await composer.send()
        #expect(composer.error == nil)
        let sent = try #require(self.server.requests(of: "edit").last?["body"]?.objectValue)
        #expect(
            try ChatBody(kind: .file, body: sent)
                == .file(
                    FileBody(
                        blob: blob, name: "a.txt", size: 3, type: "text/plain", text: "so bold!", entities: [bold])))
        await self.end(client)
    }

    @Test func forwardedMessagesOfTheUserAreOwn() async throws {
        let client = try await self.client()
        let chat = client.conversation(self.pair)
        let content = MessageContent(kind: .text, body: #"{"text":"forwarded"}"#)
        self.server.change(.forward(ConversationKey(self.pair.number), .success([content])), by: Value.alice)
        try await eventually { try await chat.texts == ["forwarded"] }
        let message = try #require(try await chat.storedMessages().messages.first)
        #expect(message.event.id == nil && message.isOwn && message.delivery == .sent)
        await self.end(client)
    }

    @Test func theLastClosedConversationEndsTheSubscription() async throws {
        let client = try await self.client()
        let chat = client.conversation(self.pair)
        await chat.didOpen()
        try await eventually { self.server.requests(of: "subscribe").last?["convs"] == [.string(self.pair.rawValue)] }
        await chat.didClose()
        try await eventually { self.server.requests(of: "subscribe").last?["convs"] == [] }
        await self.end(client)
    }

    @Test func aRefusedEditKeepsItsText() async throws {
        let client = try await self.client()
        let chat = client.conversation(self.pair)
        try await chat.send("first")
        try await eventually { try await chat.storedMessages().messages.count == 1 }
        let composer = ComposerModel(client: client, conversation: self.pair)
        let own = try #require(try await chat.storedMessages().messages.first)
        composer.edit(own)
        composer.text = "second"
        self.server.fail("edit", with: ChatError(.tooLate, message: "too late"))
        await composer.send()
        #expect(composer.error?.serverError?.code == .tooLate && composer.text == "second" && composer.mode == .edit(own))
        await composer.send()
        #expect(composer.error == nil && composer.text.isEmpty)
        await self.end(client)
    }

    /// A retry after a file that could not be read does not repeat the files that were sent.
    @Test func aFileThatIsMissingStopsTheOthersOnce() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".bin")
        try Data([1, 2, 3]).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let client = try await self.client()
        let composer = ComposerModel(client: client, conversation: self.pair)
        composer.files = [.init(path: file.path, type: "application/octet-stream"), .init(path: "/nowhere/x", type: "image/png")]
        composer.text = "caption"
        await composer.send()
        #expect(composer.error?.code == .invalidUse && composer.files.map(\.path) == ["/nowhere/x"] && composer.text == "caption")
        composer.files = []
        await composer.send()
        #expect(composer.error == nil && composer.text.isEmpty)
        try await eventually { self.server.requests(of: "send").count == 2 }
        #expect(Set(self.server.requests(of: "send").compactMap { $0["kind"]?.stringValue }) == ["file", "text"])
        await self.end(client)
    }

    @Test(
        arguments: [
            ("", nil), ("hi", nil), ("@", ""), ("@bo", "bo"), ("hi @bo", "bo"), ("a@bo", nil), ("你好@bo", "bo"), ("@bo ", nil),
            ("@a @b", "b"),
            ("@" + String(repeating: "x", count: 33), nil), ("@bo.", "bo."), ("@b!", nil),
        ] as [(String, String?)])
    func aMentionBeginsAtItsSign(text: String, start: String?) async throws {
        let client = try await self.client()
        let composer = ComposerModel(client: client, conversation: self.group)
        composer.text = text
        #expect(composer.mentionStart == start)
        await self.end(client)
    }

    @Test func aMentionIsSuggestedAndCompleted() async throws {
        let client = try await self.client()
        let composer = ComposerModel(client: client, conversation: self.group)
        composer.text = "hi @bo"
        try await eventually { composer.suggestions.map(\.name.rawValue) == ["bob", "bobby"] }
        composer.complete(with: ChatUser(name: Value.name("bobby")))
        #expect(composer.text == "hi @bobby " && composer.suggestions.isEmpty)
        await composer.send()
        try await eventually { self.server.requests(of: "send").count == 1 }
        let entity = self.server.requests(of: "send")[0]["body"]?["entities"]?.arrayValue?.first
        #expect(entity?["user"] == "bobby" && entity?["offset"] == 3 && entity?["length"] == 6)
        composer.text = "no sign"
        composer.complete(with: ChatUser(name: Value.bob))
        #expect(composer.text == "no sign")
        await self.end(client)
    }

    // MARK: Members

    @Test func membersArePagedAndALaterListReplacesAnEarlierOne() async throws {
        let client = try await self.client()
        func page(_ names: [String], next: String?) -> JSONValue {
            MembersAnswer(
                members: names.map { ChatMember(user: ChatUser(name: Value.name($0)), role: .member, since: 1) }, version: 1, total: 3,
                page: next.map { Value.token($0) }
            ).json
        }
        let model = MembersModel(client: client, conversation: self.group)
        self.server.script("members", page(["a", "b"], next: "p1"))
        await model.load()
        #expect(model.members.map(\.user.name.rawValue) == ["a", "b"] && model.hasMore && model.total == 3 && !model.isLoading)
        self.server.script("members", page(["c"], next: nil))
        await model.loadMore()
        #expect(model.members.map(\.user.name.rawValue) == ["a", "b", "c"] && !model.hasMore)
        #expect(self.server.requests(of: "members").last?["page"] == "p1")
        let count = self.server.count(of: "members")
        await model.loadMore()
        #expect(self.server.count(of: "members") == count)
        self.server.script("members", ChatError(.forbidden, message: "no").json)
        await model.load(matching: "x")
        #expect(model.error?.serverError?.code == .forbidden && model.members.count == 3)
        self.server.script("members", page(["x"], next: nil))
        await model.load(matching: "")
        #expect(model.error == nil && model.members.map(\.user.name.rawValue) == ["x"])
        #expect(self.server.requests(of: "members").last?["query"] == nil)
        await self.end(client)
    }

    // MARK: Search

    @Test func aSearchShowsTheStoreAndThenTheServer() async throws {
        let client = try await self.client()
        self.server.write("the harbour", by: Value.bob, in: self.pair)
        try await eventually { try await client.conversation(self.pair).texts == ["the harbour"] }
        func answer(_ seqs: [Int64], next: String?) -> JSONValue {
            let hits = seqs.map { SearchHit(event: Value.text($0, "harbour \($0)", in: self.pair), snippet: "harbour \($0)") }
            return SearchAnswer(hits: hits, page: next.map { Value.token($0) }).json
        }
        let model = SearchModel(client: client)
        self.server.script("search", answer([50, 40], next: "p1"))
        model.query = "harbour"
        try await eventually { !model.isSearching && model.hasMore }
        #expect(model.hits.map(\.message.event.seq).contains(50) && !model.isStoredOnly)
        self.server.script("search", answer([40, 30], next: nil))
        await model.loadMore()
        #expect(model.hits.filter { $0.message.event.seq == 40 }.count == 1 && model.hits.contains { $0.message.event.seq == 30 })
        #expect(!model.hasMore && self.server.requests(of: "search").last?["page"] == "p1")
        model.query = "  "
        #expect(model.hits.isEmpty && !model.isSearching)
        self.server.setReachable(false)
        self.server.disconnectAll()
        try await eventually { await client.state != .online }
        model.query = "the harbour"
        try await eventually { model.isStoredOnly }
        #expect(model.hits.map(\.message.text) == ["the harbour"])
        await self.end(client)
    }
}
