import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Testing

@testable import ApusChatClient
@testable import ApusChatTerminal

/// Invariants of the full screen: a confirmation is for one conversation, and no
/// text of another user or of the server controls the terminal.
@MainActor @Suite("Safety of the terminal", .timeLimit(.minutes(5)))
struct ChatTerminalSafetyTests {
    private final class Output {
        var text = ""
    }

    private func with(
        width: Int = 100, height: Int = 30, _ body: (CommandFixture, ChatTerminal, Output) async throws -> Void
    ) async throws {
        let fixture = try await CommandFixture()
        let output = Output()
        let terminal = ChatTerminal(
            client: fixture.client, width: width, height: height, clock: .system, output: { output.text += $0 })
        await terminal.start()
        try await terminal.show(fixture.client.conversation(fixture.group))
        let result: Result<Void, any Error>
        do { result = .success(try await body(fixture, terminal, output)) } catch { result = .failure(error) }
        await terminal.stop()
        await fixture.end()
        try result.get()
    }

    // MARK: Confirmations

    private nonisolated static let dangers = [
        ("/leave", "member.leave"), ("/delete", "conversation.delete"), ("/delete all", "conversation.delete"),
    ]

    /// The first line was entered for the group. The same line in the pair asks again.
    @Test(arguments: dangers) func aConfirmationIsForOneConversation(line: String, verb: String) async throws {
        try await self.with { fixture, terminal, _ in
            await terminal.submit(line)
            #expect(terminal.notice?.text.hasSuffix("Enter \(line) again to confirm.") == true)
            try await terminal.show(fixture.client.conversation(fixture.pair))
            await terminal.submit(line)
            #expect(terminal.notice?.text.contains("bob") == true && fixture.server.count(of: verb) == 0)
            // Back in the group, neither of the two lines counts.
            try await terminal.show(fixture.client.conversation(fixture.group))
            await terminal.submit(line)
            #expect(terminal.notice?.text.hasSuffix("again to confirm.") == true && fixture.server.count(of: verb) == 0)
            await terminal.submit(line)
            try await eventually { fixture.server.count(of: verb) == 1 }
            #expect(fixture.server.requests(of: verb).last?["conv"]?.stringValue == fixture.group.rawValue)
        }
    }

    /// Each line in between cancels the confirmation, also one that is not performed.
    @Test(arguments: ["/leeve", "/leave now", "/members", "hello", "/delete"]) func anInterveningLineCancels(between: String) async throws {
        try await self.with { fixture, terminal, _ in
            await terminal.submit("/leave")
            await terminal.submit(between)
            terminal.screen.panel = nil
            await terminal.submit("/leave")
            #expect(terminal.notice?.text.hasSuffix("Enter /leave again to confirm.") == true, "\(between)")
            #expect(fixture.server.count(of: "member.leave") == 0)
        }
    }

    @Test func aLogoutIsConfirmedWithoutAConversation() async throws {
        try await self.with(width: 160) { fixture, terminal, _ in
            await terminal.take(.gone([fixture.group]))
            await terminal.submit("/logout")
            #expect(!terminal.hasEnded && terminal.notice?.text.hasSuffix("Enter /logout again to confirm.") == true)
            await terminal.submit("/leave")
            #expect(terminal.notice?.text.hasPrefix("open a conversation first") == true)
            await terminal.submit("/logout")
            #expect(!terminal.hasEnded)
            await terminal.submit("/logout")
            #expect(terminal.hasEnded && terminal.hasLoggedOut)
        }
    }

    // MARK: Foreign texts

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.isBidiControl || scalar.value == 0x2028 || scalar.value == 0x2029
    }

    /// Returns the scalars of an output that are neither printable nor part of a sequence of a
    /// frame.
    private static func harm(in output: String) -> String {
        var harm = String.UnicodeScalarView()
        var rest = Substring(output).unicodeScalars
        while let scalar = rest.popFirst() {
            guard scalar == "\u{1B}", rest.first == "[" else {
                if Self.isHarmful(scalar) { harm.append(scalar) }
                continue
            }
            rest.removeFirst()
            rest = rest.drop { ("0"..."9").contains($0) || $0 == ";" || $0 == "?" }
            guard let final = rest.popFirst(), "hlJKHGm".unicodeScalars.contains(final) else {
                harm.append("\u{1B}")
                continue
            }
        }
        return String(harm)
    }

    @Test func theCheckFindsHarmfulText() {
        #expect(Self.harm(in: ChatTerminal.enterSequence + "text 你好" + ChatTerminal.leaveSequence).isEmpty)
        for text in ["\u{1B}]0;t\u{7}", "\u{9B}2J", "\u{1B}[6n", "\u{1B}c", "\u{202E}x", "a\rb", "\n", "\u{1B}"] {
            #expect(!Self.harm(in: "a" + text).isEmpty, "\(text.debugDescription)")
        }
    }

    private nonisolated static let texts = [
        "\u{1B}]52;c;cm0gLXJm\u{7}", "\u{1B}[2J\u{1B}[H", "\u{9B}6n", "\u{9D}0;t\u{9C}", "a\rb\u{8}", "\u{202E}gpj.exe\u{2066}",
        "two\nlines",
        "\u{0}\u{7F}\u{85}",
    ]

    /// Each text that another user or the server chooses, on the screen of a session.
    @Test(arguments: texts) func noForeignTextControlsTheTerminal(text: String) async throws {
        try await self.with { fixture, terminal, output in
            let group = fixture.group
            let json = JSONValue.string(text)
            var head = try await fixture.client.conversation(group).head
            (head.title, head.seq, head.n) = (text, 3, 3)
            head.last = EventPreview(seq: 3, n: 3, sender: Value.bob, at: 1, kind: .text, text: text)
            var pair = try await fixture.client.conversation(fixture.pair).head
            pair.peer = ChatUser(name: Value.bob, nick: text, status: text)
            let invitation = ChatHead(
                conversation: ConversationID(number: 4_242), kind: .group, state: .invited, title: text, peer: pair.peer, seq: 0, n: 0,
                at: 1)
            fixture.server.push("head", HeadPush(heads: [head, pair, invitation]).json)
            try await eventually { await fixture.client.heads.contains { $0.state == .invited } }
            // Notices of events.
            let contact = ContactBody(user: Value.bob, isIncoming: true, text: text)
            await terminal.take(.contact(EventKind(.contactRequest), contact))
            terminal.redraw()
            await terminal.take(.device(EventKind(.deviceAdd), DeviceBody(device: DeviceID(number: 9), name: text, platform: text)))
            terminal.redraw()
            await terminal.take(.heads([invitation]))
            terminal.redraw()
            await terminal.take(.storeFailed(ChatClientError(.store, message: text)))
            terminal.redraw()
            await terminal.take(.connection(.connecting))
            // A refused message, and the answers to commands, as a notice and as a panel.
            let event = ChatEvent(
                conversation: group, seq: 0, n: nil, sender: Value.alice, id: ClientID("m9"), at: 1, kind: .text, body: ["text": json])
            await terminal.take(.outgoing(ChatMessage(event: event, delivery: .failed(ChatError(.forbidden, message: text)))))
            terminal.redraw()
            for verb in ["member.ban", "conversation.info"] { fixture.server.script(verb, ChatError(.forbidden, message: text).json) }
            fixture.server.script("people", ["users": [["name": "bob", "nick": json]]])
            for line in ["/ban bob", "/info", "/users bob", "/requests", "/open \(text)", text, "/chats", "/\(text)"] {
                await terminal.submit(line)
                terminal.redraw()
                terminal.screen.panel = nil
            }
            for (width, height) in [(160, 50), (80, 24), (20, 5), (1, 1)] { terminal.resized(width: width, height: height) }
            let harm = Self.harm(in: output.text)
            #expect(harm.isEmpty, "\(harm.debugDescription)")
        }
    }

    // MARK: Any input

    private static let keys = [
        "a", "你", "👍", "e\u{301}", " ", "/", "@", "#", "j", "k", "n", "r", "+", "?", "\t", "\r", "\u{1B}", "\u{1B}[A", "\u{1B}[B",
        "\u{1B}[C",
        "\u{1B}[D", "\u{1B}[5~", "\u{1B}[6~", "\u{1B}[1;5A", "\u{1B}[Z", "\u{1B}OP", "\u{7F}", "\u{15}", "\u{17}", "\u{A}", "\u{C}",
        "\u{1A}",
        "\u{1B}[200~two\nlines \u{1B}[2J\u{1B}[201~", "\u{1B}[", "/help\r", "/members\r", "/thread #1\r",
    ]

    /// Any keys, news and sizes in any order leave a screen of the right size, and a terminal that
    /// only frames control.
    @Test(arguments: 0..<4) func anyInputKeepsTheScreenSound(seed: Int) async throws {
        try await self.with { fixture, terminal, output in
            var generator = SplitMix64(state: UInt64(seed) &* 0x9E37_79B9 &+ 7)
            for step in 0..<150 {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0:
                    let sizes = [(80, 24), (160, 50), (69, 10), (70, 10), (20, 5), (2, 2), (1, 1), (200, 4)]
                    let (width, height) = sizes[Int.random(in: 0..<sizes.count, using: &generator)]
                    terminal.resized(width: width, height: height)
                case 1: fixture.server.write("news \(step) \(Self.texts[step % Self.texts.count])", by: Value.bob, in: fixture.group)
                case 2: fixture.server.write("elsewhere \(step)", by: Value.bob, in: fixture.pair)
                default:
                    let key = Self.keys[Int.random(in: 0..<Self.keys.count, using: &generator)]
                    await terminal.receivedInput(Array(key.utf8))
                }
                if terminal.wantsSuspension { terminal.resume() }
                #expect(!terminal.hasEnded, "step \(step)")
                var screen = terminal.screen
                let frame = screen.frame()
                #expect(frame.rows.count == screen.height, "step \(step)")
                if screen.width >= 20 {
                    #expect(frame.text.allSatisfy { TerminalText.width($0) == screen.width }, "step \(step)")
                }
                if let cursor = frame.cursor { #expect(cursor.row < screen.height && cursor.column < screen.width, "step \(step)") }
            }
            let harm = Self.harm(in: output.text)
            #expect(harm.isEmpty, "\(harm.debugDescription)")
            // The terminal is as it was before, whatever was on the screen.
            await terminal.stop()
            #expect(output.text.hasSuffix(ChatTerminal.leaveSequence))
        }
    }
}
