import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

/// The text of the composer while the user changes between new messages, replies and edits, and
/// while a message is being sent.
@MainActor @Suite("Text of the composer", .timeLimit(.minutes(5)))
struct ComposerTextTests {
    let server = FakeServer()
    let device: TestDevice
    let pair: ConversationID
    private final class Opened { var client: ChatClient? }
    private let opened = Opened()

    init() throws { (self.device, self.pair) = try self.server.pair() }

    /// Runs `body` with a composer and a conversation of two messages: one of the other user, and
    /// an own one.
    private func with(_ body: (ComposerModel, ChatConversation, _ other: ChatMessage, _ own: ChatMessage) async throws -> Void) async throws
    {
        self.server.write("question", by: Value.bob, in: self.pair)
        self.server.write("mine", by: Value.alice, in: self.pair)
        let client = try await self.device.signIn()
        try await client.isOnline()
        let chat = client.conversation(self.pair)
        try await eventually { try await chat.storedMessages().messages.count == 2 }
        let rows = try await chat.storedMessages().messages
        let composer = ComposerModel(client: client, conversation: self.pair)
        self.opened.client = client
        defer { self.opened.client = nil }
        let result: Result<Void, any Error>
        do { result = .success(try await body(composer, chat, rows[0], rows[1])) } catch { result = .failure(error) }
        await client.close()
        self.device.remove()
        try result.get()
    }

    private var sent: [JSONValue?] { self.server.requests(of: "send").map { $0["body"]?["text"] } }

    // MARK: Sending

    /// The user presses the button again while the first press is being handled.
    @Test func aTextIsSentOnce() async throws {
        try await self.with { composer, chat, _, _ in
            composer.text = "once"
            async let first: Void = composer.send()
            async let second: Void = composer.send()
            _ = await (first, second)
            #expect(composer.text.isEmpty && !composer.isSending)
            try await eventually { try await chat.unsent.isEmpty }
            #expect(self.sent == ["once"])
            composer.text = "again"
            await composer.send()
            try await eventually { self.sent == ["once", "again"] }
        }
    }

    @Test func anEditIsRequestedOnce() async throws {
        try await self.with { composer, _, _, own in
            composer.edit(own)
            composer.text = "changed"
            async let first: Void = composer.send()
            async let second: Void = composer.send()
            _ = await (first, second)
            #expect(self.server.count(of: "edit") == 1 && composer.mode == .new && composer.text.isEmpty)
        }
    }

    @Test func silentFilesAreSilent() async throws {
        try await self.with { composer, chat, other, _ in
            let path = self.device.folder + "/a.txt"
            try Data([1]).write(to: URL(fileURLWithPath: path))
            composer.files = [.init(path: path, type: "text/plain")]
            composer.text = "with a text"
            composer.isSilent = true
            composer.reply(to: other)
            await composer.send()
            try await eventually { try await chat.unsent.isEmpty }
            let requests = self.server.requests(of: "send")
            #expect(requests.count == 2 && requests.allSatisfy { $0["silent"] == true })
            // Only the first message, the file, is the reply.
            let file = requests.first { $0["kind"] == "file" }
            #expect(file?["ref"] == .integer(other.event.seq) && requests.first { $0["kind"] == "text" }?["ref"] == nil)
            #expect(!composer.isSilent && composer.files.isEmpty)
        }
    }

    @Test func textsThatTheServerRefusesStayInTheOutboxAndNotInTheInput() async throws {
        try await self.with { composer, chat, _, _ in
            self.server.fail("send", with: ChatError(.forbidden, message: "no"))
            composer.text = "refused"
            await composer.send()
            #expect(composer.text.isEmpty && composer.error == nil)
            try await eventually { try await chat.unsent.first?.delivery == .failed(ChatError(.forbidden, message: "no")) }
        }
    }

    @Test func aTextThatIsTooLongStaysInTheInput() async throws {
        try await self.with { composer, chat, _, _ in
            let long = String(repeating: "好", count: ChatLimits.textLength + 1)
            composer.text = long
            await composer.send()
            #expect(composer.error?.code == .invalidUse && composer.text == long)
            #expect(try await chat.unsent.isEmpty)
            composer.text.removeLast()
            await composer.send()
            #expect(composer.error == nil && composer.text.isEmpty)
            try await eventually { self.sent.count == 1 }
        }
    }

    // MARK: Edits

    @Test func theUnfinishedTextReturnsAfterAnEdit() async throws {
        try await self.with { composer, chat, _, own in
            composer.text = "half a sentence"
            composer.edit(own)
            #expect(composer.text == "mine")
            composer.text = "changed"
            await composer.send()
            #expect(composer.error == nil && composer.mode == .new && composer.text == "half a sentence")
            try await eventually { try await chat.texts == ["question", "changed"] }
            await composer.send()
            try await eventually { self.sent == ["half a sentence"] }
        }
    }

    @Test func theUnfinishedTextReturnsAfterACancelledEdit() async throws {
        try await self.with { composer, _, other, own in
            composer.text = "half"
            composer.edit(own)
            composer.text = "half of an edit"
            composer.cancel()
            #expect(composer.mode == .new && composer.text == "half")
            // A reply also ends an edit, and restores the text of the new message.
            composer.edit(own)
            composer.reply(to: other)
            #expect(composer.mode == .reply(other) && composer.text == "half")
            composer.cancel()
            #expect(composer.mode == .new && composer.text == "half")
            #expect(self.server.count(of: "edit") == 0)
        }
    }

    @Test func anotherMessageIsEditedInsteadOfTheFirst() async throws {
        try await self.with { composer, chat, _, own in
            self.server.write("second", by: Value.alice, in: self.pair)
            try await eventually { try await chat.storedMessages().messages.count == 3 }
            let second = try #require(try await chat.storedMessages().messages.last)
            composer.text = "half"
            composer.edit(own)
            composer.edit(second)
            #expect(composer.text == "second" && composer.mode == .edit(second))
            composer.cancel()
            #expect(composer.text == "half", "the text of the first edit is not a new message")
        }
    }

    /// The text of an edit must not become the draft of a new message, which the other devices of
    /// the user would show.
    @Test func anEditIsNotADraft() async throws {
        try await self.with { composer, chat, _, own in
            composer.text = "half a sentence"  // begins the timer of the draft
            composer.edit(own)
            composer.text = "mine, changed"
            try await eventually { try await chat.draft?.text == "half a sentence" }
            await composer.leave()
            try await eventually { self.server.count(of: "draft") >= 1 }
            #expect(self.server.requests(of: "draft").allSatisfy { $0["text"] == "half a sentence" })
            #expect(try await chat.draft?.text == "half a sentence")
        }
    }

    @Test func anEditWithoutANewTextKeepsTheStoredDraft() async throws {
        try await self.with { composer, chat, _, own in
            try await chat.setDraft("stored")
            composer.edit(own)
            await composer.leave()
            #expect(try await chat.draft?.text == "stored" && self.server.count(of: "draft") == 0)
        }
    }

    @Test func filesThatAreSelectedDuringAnEditAreKept() async throws {
        try await self.with { composer, _, _, own in
            composer.edit(own)
            composer.files = [.init(path: "/a/b.txt", type: "text/plain")]
            composer.text = "changed"
            await composer.send()
            #expect(composer.error == nil && composer.files.map(\.path) == ["/a/b.txt"])
        }
    }

    // MARK: Drafts and typing

    @Test func aDraftKeepsItsReply() async throws {
        try await self.with { composer, chat, other, _ in
            composer.reply(to: other)
            composer.text = "an answer"
            await composer.leave()
            #expect(try await chat.draft?.ref == other.event.seq)
            let later = ComposerModel(client: try #require(self.opened.client), conversation: self.pair)
            await later.restore()
            #expect(later.text == "an answer" && later.mode == .reply(other))
            await later.send()
            try await eventually { self.server.requests(of: "send").last?["ref"] == .integer(other.event.seq) }
            try await eventually { try await chat.draft == nil }
        }
    }

    /// The other devices and the head have the draft until the server removes it.
    @Test func aSentMessageRemovesTheDraftOfTheServer() async throws {
        try await self.with { composer, chat, _, _ in
            composer.text = "said"
            await composer.leave()
            try await eventually { self.server.count(of: "draft") == 1 }
            await composer.send()
            #expect(try await chat.draft == nil)
            try await eventually { self.server.requests(of: "draft").last?["text"] == "" }
        }
    }

    /// A server can send any time up to the greatest integer of the protocol.
    @Test func aDraftOfTheLatestTimeIsRemoved() async throws {
        try await self.with { composer, chat, other, _ in
            var head = Value.head(other.event.seq, in: self.pair)
            head.own.draft = Draft(text: "from far ahead", ref: nil, at: WireReader.largestInteger)
            self.server.push("head", HeadPush(heads: [head]).json)
            try await eventually { try await chat.draft?.text == "from far ahead" }
            composer.text = "said"
            await composer.send()
            try await eventually { self.server.requests(of: "draft").last?["text"] == "" }
        }
    }

    /// Another device of the user sends the draft as a message, or continues it.
    @Test(arguments: ["", "continued"]) func aDraftThatAnotherDeviceChangedIsNotShownAgain(text: String) async throws {
        try await self.with { composer, chat, _, _ in
            composer.text = "half"
            await composer.leave()
            try await eventually { self.server.count(of: "draft") == 1 }
            try await eventually { try await chat.engine.store.unsentDrafts().isEmpty }
            #expect(try await chat.draft?.text == "half")
            let device = try TestDevice(self.server)
            let other = try await device.signIn()
            try await other.isOnline()
            let there = other.conversation(self.pair)
            #expect(try await there.draft?.text == "half")
            if text.isEmpty { try await there.send("half") } else { try await there.setDraft(text, sends: true) }
            try await eventually { try await chat.draft?.text == (text.isEmpty ? nil : text) }
            await other.close()
            device.remove()
        }
    }

    @Test func aMessageWithoutADraftRemovesNone() async throws {
        try await self.with { composer, _, _, _ in
            composer.text = "said"
            await composer.send()
            try await eventually { self.server.count(of: "send") >= 1 }
            #expect(self.server.count(of: "draft") == 0)
        }
    }

    @Test func anEmptiedTextRemovesTheDraft() async throws {
        try await self.with { composer, chat, _, _ in
            composer.text = "unfinished"
            await composer.leave()
            composer.text = ""
            await composer.leave()
            #expect(try await chat.draft == nil)
            try await eventually { self.server.requests(of: "draft").last?["text"] == "" }
        }
    }

    /// The clock of the tests does not advance, so that all changes are within the interval of one
    /// notification.
    @Test func typingIsReportedOnceInAWhileAndAgainAfterAMessage() async throws {
        try await self.with { composer, chat, _, own in
            for length in 1...20 { composer.text = String(repeating: "x", count: length) }
            try await eventually { self.server.count(of: "typing") == 1 }
            composer.text = ""
            composer.edit(own)
            composer.cancel()
            #expect(self.server.count(of: "typing") == 1, "nothing was typed")
            composer.text = "message"
            await composer.send()
            try await eventually { try await chat.unsent.isEmpty }
            composer.text = "n"
            try await eventually { self.server.count(of: "typing") == 2 }
        }
    }
}
