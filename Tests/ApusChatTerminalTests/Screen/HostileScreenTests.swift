import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatTerminal

/// Texts of other users and of the server that try to control the terminal or to turn its text
/// around.
@Suite("Hostile texts on the screen")
struct HostileScreenTests {
    /// ECMA-48 sequences with one and two bytes, ends of lines, and all characters that change the
    /// direction of a text (Bidi_Control of Unicode).
    static let texts = [
        "\u{1B}[2J", "\u{1B}]0;title\u{7}", "\u{1B}]52;c;cm0gLXJm\u{1B}\\", "\u{1B}P1;1|\u{1B}\\", "\u{1B}c", "\u{9B}2J", "\u{9D}0;t\u{9C}",
        "\u{90}q\u{9C}", "a\u{8}\u{8}b", "a\rb", "a\u{B}b\u{C}c", "\u{E}\u{F}", "\u{0}", "\u{7F}", "\u{85}x", "a\u{2028}b\u{2029}c",
        "\u{202E}gpj.exe", "\u{202A}a\u{202B}b\u{202C}\u{202D}", "\u{2066}a\u{2067}b\u{2068}c\u{2069}", "\u{200E}\u{200F}",
        "\u{61C}1\u{61C}2",
        "two\nlines\n", "\t\t\t",
    ]

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control || scalar.properties.isBidiControl || scalar.value == 0x2028 || scalar.value == 0x2029
    }

    /// The places of a screen that show a text of another user or of the server.
    private static let places: [(name: String, set: @Sendable (inout ChatScreen, String) -> Void)] = [
        ("title", { $0.conversations[0].title = $1 }), ("preview", { $0.conversations[0].preview = $1 }),
        ("time of a conversation", { $0.conversations[0].time = $1 }), ("subtitle", { $0.subtitle = $1 }),
        ("connection", { $0.connection = $1 }), ("notice", { $0.notice = $1 }), ("typing", { $0.typing = $1 }),
        ("sender", { $0.messages[0].sender = $1 }), ("text", { $0.messages[0].paragraphs = [[ScreenSpan($1)]] }),
        ("second paragraph", { $0.messages[0].paragraphs.append([ScreenSpan("┃ ", .dim), ScreenSpan($1, .accent)]) }),
        ("failure", { $0.messages[0].mark = .failed($1) }), ("change", { $0.messages[1].paragraphs = [[ScreenSpan($1)]] }),
        ("title of a panel", { $0.panel = ScreenPanel(title: $1, lines: [.init("a")]) }),
        ("line of a panel", { $0.panel = ScreenPanel(title: "p", lines: [.init($1, command: "/x")]) }),
        (
            "columns of a panel",
            { $0.panel = ScreenPanel(title: "p", lines: [.init("ab" + $1 + String(repeating: " word", count: 40), indent: 2)]) }
        ),
        ("input", { $0.editor.set($1) }), ("paste", { _ = $0.handle(.paste($1)) }),
        (
            "completions",
            { screen, text in
                screen.editor.completions = ["x" + text, "xy" + text]
                screen.editor.set("x")
            }
        ),
    ]

    private func screen(_ width: Int, _ height: Int) -> ChatScreen {
        var screen = ChatScreen(width: width, height: height)
        screen.conversations = [ScreenConversation(id: "a", title: "Room", preview: "newest"), ScreenConversation(id: "b", title: "Other")]
        screen.messages = [
            ScreenMessage(id: "1", seq: 1, sender: "bob", day: "Mon", time: "10:00", paragraphs: [[ScreenSpan("hello")]]),
            ScreenMessage(id: "2", seq: 2, sender: "", day: "Mon", time: "10:01", paragraphs: [[ScreenSpan("joined")]], isNotice: true),
        ]
        screen.show("a")
        return screen
    }

    /// A terminal also performs only the sequences of the frame.
    @Test(arguments: Self.texts) func noPlaceShowsIt(text: String) {
        for (width, height) in [(80, 24), (160, 12), (20, 5), (1, 1)] {
            let screen = self.screen(width, height)
            var plain = screen
            let before = plain.frame()
            var fresh = VirtualTerminal(width: width, height: height)
            fresh.write(before.output(after: nil))
            for (name, set) in Self.places {
                var screen = screen
                set(&screen, text)
                let frame = screen.frame()
                let shown = frame.text
                let isWhole = width < 20 || shown.allSatisfy { TerminalText.width($0) == width }
                let isHarmless = !shown.joined().unicodeScalars.contains(where: Self.isHarmful)
                #expect(isWhole && isHarmless, "\(name) at \(width)×\(height)")
                var terminal = fresh
                terminal.write(frame.output(after: before))
                let isPerformed = terminal.unknown.isEmpty && !terminal.isUpdating
                #expect(isPerformed, "\(name) at \(width)×\(height): \(terminal.unknown)")
            }
        }
    }

    /// A message of each kind with the text in each field that is a text.
    @Test(arguments: Self.texts) func noKindOfMessageShowsIt(text: String) {
        for (kind, body) in Sample.bodies {
            for field in body.keys where body[field]?.stringValue != nil && field != "blob" {
                var hostile = body
                hostile[field] = .string(text)
                for state in [EventState.normal, .edited, .recalled] {
                    self.expectHarmless(Sample.message(kind, hostile, ref: 1, state: state), "\(kind).\(field)")
                }
            }
        }
        self.expectHarmless(Sample.message("poll", ["question": "?", "options": [.string(text), "b"]]), "options")
        self.expectHarmless(
            Sample.message("text", ["text": "a", "preview": ["url": "https://a.example", "title": .string(text), "site": .string(text)]]),
            "preview")
        self.expectHarmless(Sample.message("text", ["text": "a", "forwarded": ["at": 1, "nick": .string(text)]]), "forwarded")
        self.expectHarmless(Sample.message("conversation.set", ["title": .string(text)]), "title")
        self.expectHarmless(Sample.message("x." + text), "kind")
        var reacted = Sample.message("text", ["text": "a"])
        reacted.event.reactions = [ReactionCount(key: text, count: 2)]
        self.expectHarmless(reacted, "reaction")
        self.expectHarmless(Sample.message("text", ["text": "a"], delivery: .failed(ChatError(.forbidden, message: text))), "refusal")
    }

    private func expectHarmless(_ message: ChatMessage, _ comment: String) {
        let quoted = Sample.message("text", ["text": .string("quoted " + (message.text ?? ""))])
        var screen = self.screen(80, 40)
        screen.messages = [ScreenMessage(message, quote: quoted, me: Sample.alice, clock: .system) { $0.rawValue }]
        let rows = screen.frame().text
        #expect(
            !rows.joined().unicodeScalars.contains(where: Self.isHarmful), "\(comment): \(rows.joined(separator: "\n").debugDescription)")
        // The line mode indents further lines, and a summary has none.
        let content = ChatText.content(of: message, quote: quoted)
        #expect(!content.unicodeScalars.contains { Self.isHarmful($0) && $0 != "\n" }, "\(comment): \(content.debugDescription)")
        for line in content.split(separator: "\n", omittingEmptySubsequences: false).dropFirst() {
            #expect(line.hasPrefix("    "), "\(comment)")
        }
        let summary = ChatText.summary(of: message)
        #expect(!summary.unicodeScalars.contains(where: Self.isHarmful) && summary.count <= 60, "\(comment): \(summary.debugDescription)")
    }

    @Test(arguments: Self.texts) func noPreviewOfAConversationShowsIt(text: String) {
        for kind in ["text", "image", "x.game"] {
            let preview = EventPreview(seq: 1, n: 1, sender: nil, at: 0, kind: EventKind(rawValue: kind), text: text)
            #expect(!ChatText.summary(of: preview).unicodeScalars.contains(where: Self.isHarmful), "\(kind)")
        }
        var head = ChatHead(conversation: ConversationID(number: 1), kind: .group, title: text, seq: 1, n: 1, at: 0)
        #expect(!ChatText.title(of: head).unicodeScalars.contains { Self.isHarmful($0) && $0 != "\n" })
        (head.title, head.kind) = (nil, .pair)
        head.peer = ChatUser(name: UserName(prepared: "bob"), nick: text)
        #expect(!ChatText.title(of: head).unicodeScalars.contains { Self.isHarmful($0) && $0 != "\n" })
    }

    /// The answer of a server can hold any text, and its errors are printed as they are.
    @Test(arguments: Self.texts) func noErrorShowsIt(text: String) {
        let refusal = ChatError(.forbidden, message: text, retryAfter: 60_000)
        for reason in [
            ChatText.reason(refusal, .system), ChatText.reason(ChatClientError(.refused, message: text, serverError: refusal), .system),
            ChatText.reason(ChatClientError(.badAnswer, message: text), .system),
        ] {
            #expect(!reason.unicodeScalars.contains { Self.isHarmful($0) && $0 != "\n" }, "\(reason.debugDescription)")
        }
    }

    /// A JSON line is one line of a terminal, and the reader of a script gets the text unchanged.
    @Test(arguments: Self.texts) func noJSONLineContainsItRaw(text: String) throws {
        let message = Sample.message("text", ["text": .string(text), "name": .string("é你👍" + text)])
        var head = ChatHead(conversation: ConversationID(number: 1), kind: .group, title: text, seq: 1, n: 1, at: 0)
        head.last = EventPreview(seq: 1, n: 1, sender: nil, at: 0, kind: .text, text: text)
        for line in [ChatLines.line(message), ChatLines.line(head)] {
            #expect(!line.unicodeScalars.contains(where: Self.isHarmful), "\(line.debugDescription)")
        }
        let read = try #require(try JSONReader.read(ChatLines.line(message)).objectValue)
        #expect(read["text"]?.stringValue.map { $0.unicodeScalars.elementsEqual(text.unicodeScalars) } == true)
        #expect(read["body"]?.objectValue == message.event.body)
        let conversation = try #require(try JSONReader.read(ChatLines.line(head)).objectValue)
        #expect(conversation["title"]?.stringValue == text && conversation["last"]?.stringValue == text)
    }
}
