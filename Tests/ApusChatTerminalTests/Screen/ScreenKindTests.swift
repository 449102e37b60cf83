import ApusChatClient
import ApusChatProtocol
import ApusJSON
import Testing

@testable import ApusChatTerminal

/// Messages of every kind on screens of several widths, with texts whose characters are not all one
/// cell wide.
@Suite("Kinds of messages at all widths")
struct ScreenKindTests {
    private static let widths = [20, 24, 30, 40, 69, 70, 80, 132]
    private static let texts = [
        "Shall we meet at the harbour at six?", "我们六点在码头见面好吗？请带上雨伞和一点吃的东西。", "好👍🏽吗👨‍👩‍👧🇨🇳❤️？ok 行",
        "https://example.test/a/very/long/address/without/any/space/that/no/line/can/break?x=1&y=2", "a\n\n第二行\nthird",
        "שלום עולם, mixed with 中文 and e\u{301}\u{301} marks", "１２３ ＡＢＣ ｱｲｳ 한국어", String(repeating: "好", count: 200),
    ]

    /// Returns a message of each kind, with this text in all fields for texts.
    private func messages(_ text: String) -> [ChatMessage] {
        Sample.bodies.enumerated().map { index, item in
            var body = item.body
            for field in ["text", "name", "question", "title"] where body[field] != nil { body[field] = .string(text) }
            if body["options"] != nil { body["options"] = [.string(text), "B"] }
            if body["items"] != nil { body["items"] = [["at": 1, "sender": "bob", "kind": "text", "body": ["text": .string(text)]]] }
            var event = Sample.event(item.kind, body, seq: Int64(index) + 1, ref: index % 3 == 0 ? 1 : nil)
            event.reactions = [ReactionCount(key: "👍🏽", count: 2), ReactionCount(key: "好", count: 1)]
            return ChatMessage(event: event, delivery: nil)
        }
    }

    private func screen(_ messages: [ChatMessage], _ width: Int, _ height: Int) -> ChatScreen {
        var screen = ChatScreen(width: width, height: height)
        screen.conversations = [ScreenConversation(id: "a", title: "北京的朋友们 👨‍👩‍👧", preview: "在吗")]
        screen.messages = messages.map {
            ScreenMessage($0, quote: messages.first, me: Sample.alice, clock: .system) { _ in "鲍勃👍" }
        }
        screen.show("a")
        return screen
    }

    @Test(arguments: Self.widths, Self.texts) func everyRowFillsTheWidth(width: Int, text: String) {
        let messages = self.messages(text)
        for height in [6, 24, 400] {
            var screen = self.screen(messages, width, height)
            for key in [Key.pageUp, .markUp, .up, .escape] {
                let frame = screen.frame()
                #expect(frame.rows.count == height)
                for row in frame.text { #expect(TerminalText.width(row) == width, "\(width)×\(height): \(row)") }
                _ = screen.handle(key)
            }
        }
    }

    /// The terminal shows each frame as if it was drawn completely, before and after a change of
    /// the size.
    @Test(arguments: Self.texts) func otherSizesAreDrawn(text: String) {
        let messages = self.messages(text)
        var screen = self.screen(messages, 80, 24)
        for width in Self.widths + Self.widths.reversed() {
            screen.resize(width: width, height: 24)
            var terminal = VirtualTerminal(width: width, height: 24)
            let first = screen.frame()
            terminal.write(first.output(after: nil))
            _ = screen.handle(.pageUp)
            let second = screen.frame()
            terminal.write(second.output(after: first))
            _ = screen.handle(.pageDown)
            let third = screen.frame()
            terminal.write(third.output(after: second))
            #expect(terminal.unknown.isEmpty && !terminal.isUpdating)
            for (shown, expected) in zip(terminal.text, third.text) {
                #expect(shown.unicodeScalars.elementsEqual(expected.unicodeScalars), "\(width): \(shown) is not \(expected)")
            }
        }
    }

    /// A line that is too long is continued on the next one. No character is lost at any width.
    @Test(arguments: Self.widths, Self.texts) func noCharacterOfATextIsLost(width: Int, text: String) {
        let message = Sample.message("text", ["text": .string(text)])
        var screen = self.screen([message], width, 400)
        var shown = Substring(screen.frame().text.joined().filter { !$0.isWhitespace })
        for character in text where !character.isWhitespace {
            guard let place = shown.firstIndex(of: character) else {
                Issue.record("\(character) of \(text) is lost at \(width)")
                return
            }
            shown = shown[shown.index(after: place)...]
        }
    }

    /// A recalled or expired message of each kind shows none of its content.
    @Test(arguments: [EventState.recalled, .expired, .erased]) func removedContentIsNotShown(state: EventState) {
        let text = "a secret text"
        let messages = self.messages(text).map { message in
            var message = message
            (message.event.state, message.event.body, message.event.reactions) = (state, [:], [])
            (message.event.ref) = nil
            return message
        }
        for width in Self.widths {
            var screen = self.screen(messages, width, 200)
            #expect(!screen.frame().text.joined().contains("secret"))
            for message in screen.messages { #expect(!message.paragraphs.isEmpty && message.source.isEmpty) }
        }
    }
}
