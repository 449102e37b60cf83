import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatClient
@testable import ApusChatTerminal

/// The session of the full screen: the draft that it stores when a conversation closes, and the
/// updates of the server that it shows.
@MainActor @Suite("Terminal session", .timeLimit(.minutes(5)))
struct ChatTerminalSessionTests {
    private final class Output {
        var text = ""

        func take() -> String {
            defer { self.text = "" }
            return self.text
        }
    }

    /// Runs `body` with a terminal that shows the group of a `CommandFixture`.
    private func with(_ body: (CommandFixture, ChatTerminal, Output) async throws -> Void) async throws {
        let fixture = try await CommandFixture()
        let output = Output()
        let terminal = ChatTerminal(
            client: fixture.client, width: 100, height: 30, clock: .system, output: { output.text += $0 })
        await terminal.start()
        try await terminal.show(fixture.client.conversation(fixture.group))
        _ = output.take()
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture, terminal, output)) } catch { result = .failure(error) }
        await terminal.stop()
        await fixture.end()
        try result.get()
    }

    private func type(_ text: String, on terminal: ChatTerminal) async { await terminal.receivedInput(Array(text.utf8)) }

    // MARK: The open conversation

    @Test func theInputIsADraftThatTheConversationShowsAgain() async throws {
        try await self.with { fixture, terminal, _ in
            let group = fixture.client.conversation(fixture.group)
            await self.type("half a sentence", on: terminal)
            try await terminal.show(fixture.client.conversation(fixture.pair))
            #expect(terminal.screen.editor.text == "", "the draft belongs to the group")
            #expect(try await group.draft?.text == "half a sentence")
            try await terminal.show(group)
            #expect(terminal.screen.editor.text == "half a sentence")
            // A command is not stored as a draft, and the draft of the conversation is removed.
            terminal.screen.editor.set("/mute 1h")
            try await terminal.show(fixture.client.conversation(fixture.pair))
            #expect(try await group.draft?.text ?? "" == "")
            // Two slashes are a text that begins with one.
            try await terminal.show(group)
            terminal.screen.editor.set("//shrug")
            await terminal.stop()
            #expect(try await group.draft?.text == "//shrug")
        }
    }

    @Test func aliasesAreShownAndOpened() async throws {
        try await self.with { fixture, terminal, _ in
            let contact = Contact(user: ChatUser(name: Value.bob, nick: "Bob"), state: .friend, alias: "Bobby", at: 1)
            fixture.server.script("contacts", ContactsAnswer(contacts: [contact]).json)
            fixture.server.disconnectAll()
            try await eventually { terminal.screen.conversations.contains { $0.title == "Bobby" } }
            await terminal.submit("/open bobby")
            #expect(terminal.thread?.conversation.id == fixture.pair)
        }
    }

    @Test func theTitleShowsScheduledMessagesAndASilence() async throws {
        try await self.with { fixture, terminal, output in
            func script(_ count: Int) {
                let message: JSONValue = [
                    "id": "m1", "conv": .string(fixture.group.rawValue), "kind": "text", "body": ["text": "later"],
                    "send_at": 4_000_000_000_000,
                ]
                fixture.server.script("scheduled", ["scheduled": .array(Array(repeating: message, count: count))])
            }
            script(1)
            await terminal.submit("/schedule +30m later")
            try await eventually { terminal.screen.subtitle.contains("1 scheduled") }
            script(0)
            await terminal.submit("/unschedule 1")
            try await eventually { !terminal.screen.subtitle.contains("scheduled") }
            var head = try #require(terminal.thread?.head)
            head.silencedUntil = terminal.clock.now() + 90 * 60_000
            fixture.server.push("head", HeadPush(heads: [head]).json)
            try await eventually { terminal.screen.subtitle.contains("you may not write until") }
            head.silencedUntil = .max >> 10
            fixture.server.push("head", HeadPush(heads: [head]).json)
            try await eventually { terminal.screen.subtitle.hasSuffix("you may not write") }
            head.silencedUntil = nil
            fixture.server.push("head", HeadPush(heads: [head]).json)
            try await eventually { !terminal.screen.subtitle.contains("write") }
        }
    }

    @Test func aJumpMarksTheMessageOrReportsItsAbsence() async throws {
        try await self.with { _, terminal, _ in
            try await terminal.jump(to: 2)
            #expect(terminal.selectedSeq == 2)
            await #expect { try await terminal.jump(to: 999) } throws: { ($0 as? ChatClientError)?.code == .notFound }
            await terminal.submit("/open \(terminal.thread?.conversation.id.rawValue ?? "")/999")
            #expect(terminal.notice?.text.contains("#999") == true && terminal.notice?.isWarning == true)
        }
    }

    /// A title can have the form of a place in a conversation.
    @Test func aTitleWithASlashIsOpened() async throws {
        try await self.with { fixture, terminal, _ in
            let other = fixture.server.conversation(.group, [Value.alice, Value.bob])
            let titles = ["Q1/Q2", "7/8", "\(fixture.group.rawValue)/x", "a/b/c", "/"]
            for (index, title) in titles.enumerated() {
                let seq = Int64(index) + 1
                let head = ChatHead(conversation: other, kind: .group, title: title, members: 2, seq: seq, n: seq, minSeq: 1, at: seq)
                fixture.server.push("head", HeadPush(heads: [head]).json)
                try await eventually { await fixture.client.heads.contains { $0.title == title } }
                try await terminal.show(fixture.client.conversation(fixture.pair))
                await terminal.submit("/open \(title)")
                #expect(terminal.thread?.conversation.id == other, "\(title)")
            }
            await terminal.submit("/open \(fixture.group.rawValue)/2")
            #expect(terminal.thread?.conversation.id == fixture.group && terminal.selectedSeq == 2)
        }
    }

    @Test func aThreadShowsItsRepliesUntilItIsLeft() async throws {
        try await self.with { fixture, terminal, _ in
            fixture.server.reply("only here", by: Value.bob, to: 1, in: fixture.group)
            try await eventually { try await fixture.client.conversation(fixture.group).texts.contains("only here") }
            try await terminal.showThread(1)
            terminal.fill()
            #expect(terminal.screen.isThread)
            let lines = terminal.screen.messages.flatMap(\.paragraphs).map { $0.map(\.text).joined() }
            #expect(lines.contains("only here") && !lines.contains("mine"))
            await terminal.receivedInput([0x1B])
            #expect(terminal.openThread == nil && !terminal.screen.isThread)
            #expect(terminal.screen.messages.map(\.source).contains("mine"))
        }
    }

    // MARK: News of the server

    @Test func aConversationThatIsGoneIsClosed() async throws {
        try await self.with { fixture, terminal, _ in
            await terminal.take(.gone([fixture.pair]))
            #expect(terminal.thread?.conversation.id == fixture.group, "another conversation")
            await terminal.take(.gone([fixture.pair, fixture.group]))
            #expect(terminal.thread == nil && terminal.notice?.text.contains("no longer exists") == true)
        }
    }

    @Test func replacedDataCloseTheConversation() async throws {
        try await self.with { _, terminal, _ in
            await terminal.take(.reset)
            #expect(terminal.thread == nil && terminal.notice?.isWarning == true)
            #expect(terminal.notice?.text.contains("discarded") == true && !terminal.hasEnded)
        }
    }

    @Test func anEndedSessionEndsTheProgram() async throws {
        try await self.with { _, terminal, _ in
            await terminal.take(.connection(.connecting))
            #expect(!terminal.hasEnded)
            await terminal.take(.connection(.signedOut(ChatError(.unauthorized, message: "ended"))))
            #expect(terminal.hasEnded && !terminal.hasLoggedOut, "the store is kept")
        }
    }

    @Test func newsAreReportedUntilTheNextKey() async throws {
        try await self.with { _, terminal, _ in
            @MainActor func notice(_ update: ChatUpdate) async -> String {
                terminal.notice = nil
                await terminal.take(update)
                return terminal.notice?.text ?? ""
            }
            let body = ContactBody(user: Value.bob, isIncoming: true)
            #expect(await notice(.contact(EventKind(.contactRequest), body)).contains("/accept bob"))
            #expect(await notice(.contact(EventKind(.contactAccept), body)).contains("now a contact"))
            #expect(await notice(.contact(EventKind(.contactRequest), ContactBody(user: Value.bob))) == "", "an own request")
            #expect(await notice(.storeFailed(ChatClientError(.store, message: "disk full"))) == "disk full")
            await self.type("x", on: terminal)
            #expect(terminal.notice == nil)
        }
    }

    @Test func aFailedMessageShowsTheRemedy() async throws {
        try await self.with { fixture, terminal, _ in
            let error = ChatError(.forbidden, message: "Not you.")
            func row(_ conversation: ConversationID) -> ChatMessage {
                let event = ChatEvent(
                    conversation: conversation, seq: 0, n: nil, sender: Value.alice, id: ClientID("m9"), at: 1, kind: .text, ref: nil,
                    state: .normal, body: ["text": "lost"])
                return ChatMessage(event: event, delivery: .failed(error))
            }
            terminal.notice = nil
            await terminal.take(.outgoing(row(fixture.pair)))
            #expect(terminal.notice == nil, "another conversation")
            await terminal.take(.outgoing(row(fixture.group)))
            #expect(terminal.notice?.text.contains("Not you.") == true && terminal.notice?.text.contains("/retry") == true)
        }
    }

    // MARK: The terminal

    @Test func aSuspendedProgramDrawsEverythingAgain() async throws {
        try await self.with { _, terminal, output in
            await terminal.receivedInput([0x1A])  // Control-Z
            #expect(terminal.wantsSuspension && !terminal.hasEnded)
            _ = output.take()
            terminal.resume()
            let again = output.take()
            #expect(!terminal.wantsSuspension)
            #expect(again.hasPrefix(ChatTerminal.enterSequence) && again.contains("hello") && again.contains("mine"))
            // Control-L redraws the whole screen.
            await self.type("\u{0C}", on: terminal)
            #expect(output.take().contains("hello"))
        }
    }

    @Test func anotherSizeIsDrawnWhole() async throws {
        try await self.with { _, terminal, output in
            for (width, height) in [(60, 20), (140, 40), (1, 1), (100, 30)] {
                terminal.resized(width: width, height: height)
                #expect(terminal.screen.width == width && terminal.screen.height == height)
                #expect(!output.take().isEmpty)
            }
            #expect(terminal.screen.messages.map(\.source).contains("mine"))
        }
    }
}
