import ApusChatProtocol
import Testing

@testable import ApusChatClient

/// The Markdown of messages of other applications, whose entities Markdown cannot always express.
/// An edit without a change must not change their texts.
@Suite("Markdown of received messages")
struct MarkdownSourceTests {
    private static func entity(
        _ kind: TextEntityKind, _ offset: Int64, _ length: Int64, url: String? = nil, language: String? = nil
    ) -> TextEntity {
        TextEntity(kind: kind, offset: offset, length: length, url: url, language: language)
    }

    private func edited(_ text: String, _ entities: [TextEntity]) -> (text: String, entities: [TextEntity]) {
        ChatMarkdown.parse(ChatMarkdown.source(of: text, entities: entities))
    }

    @Test(
        arguments: [
            ("a`b", entity(.code, 0, 3)), ("a\nb", entity(.code, 0, 3)), ("a]b", entity(.link, 0, 3, url: "https://a.example")),
            ("a\nb", entity(.link, 0, 3, url: "https://a.example")), ("title", entity(.link, 0, 5, url: "https://a.example/x_(y)")),
            ("title", entity(.link, 0, 5, url: "javascript:alert(1)")), ("title", entity(.link, 0, 5, url: "https://a.example/a b")),
            (String(repeating: "x", count: 201), entity(.link, 0, 201, url: "https://a.example")), ("a b", entity(.bold, 1, 2)),
            ("a b", entity(.italic, 0, 2)), ("ab cd", entity(.underline, 1, 3)), ("a\n\nb", entity(.bold, 0, 4)),
            ("x y", entity(.pre, 2, 1)), ("x y", entity(.quote, 2, 1)), ("a\n```\nb", entity(.pre, 0, 7)),
        ])
    func anEntityThatMarkdownCannotExpressIsOmitted(text: String, entity: TextEntity) {
        let again = self.edited(text, [entity])
        #expect(again.text == text, "\(ChatMarkdown.source(of: text, entities: [entity]).debugDescription)")
    }

    /// The entities beside an omitted one are kept.
    @Test func theOtherEntitiesAreKept() {
        let text = "bold a`b link"
        let entities = [
            Self.entity(.bold, 0, 4), Self.entity(.code, 5, 3), Self.entity(.link, 9, 4, url: "https://a.example"),
        ]
        let again = self.edited(text, entities)
        #expect(again.text == text && again.entities == [entities[0], entities[2]])
    }

    /// A `>` at the beginning of a line was a character of the text, not a quotation.
    @Test(arguments: ["> x", ">x", "a\n> b", "> a\n> b", ">", "\\> x", "**> x**", ">>> x", "> `x`"]) func aTextIsNotQuoted(text: String) {
        let again = self.edited(text, [])
        #expect(again.text == text && again.entities.isEmpty)
    }

    @Test func aQuotationKeepsTheMarksOfItsText() {
        let quote = [Self.entity(.quote, 0, 6)]
        let again = self.edited("> a\n*b", quote)
        #expect(again.text == "> a\n*b" && again.entities == quote)
    }

    /// A block of code contains marks and lists, which are not escaped.
    @Test func aBlockKeepsItsContentBesideEscapedMarks() {
        let text = "*x*\n- a\n> *b*\nafter"
        let pre = [Self.entity(.pre, 4, 9, language: "md")]
        let source = ChatMarkdown.source(of: text, entities: pre)
        #expect(source == "\\*x\\*\n```md\n- a\n> *b*\n```\nafter")
        let again = ChatMarkdown.parse(source)
        #expect(again.text == text && again.entities == pre)
    }

    // MARK: Names of emoji

    @Test(arguments: [
        (":heart:", "❤️"), ("：爱心：", "❤️"), (":heart：", "❤️"), (":+1::-1:", "👍👎"), ("a:heart:b", "a❤️b"), (":Heart:", ":Heart:"),
        (":hea rt:", ":hea rt:"), ("::heart:", ":❤️"), (":heart", ":heart"), (":heart::", "❤️:"), (":nope:heart:", ":nope:heart:"),
        (":爱心", ":爱心"), (":爱heart:", ":爱heart:"), (":\u{1F}:", ":\u{1F}:"), ("", ""), (":", ":"), (":::", ":::"),
    ])
    func namesOfEmojiAreReplaced(source: String, text: String) {
        let replaced = ChatEmoji.replacingNames(in: Array(source.unicodeScalars))
        #expect(String(String.UnicodeScalarView(replaced)) == text)
    }

    @Test func eachNameOfTheTableIsReplaced() {
        var names: Set<String> = []
        for item in ChatEmoji.groups.flatMap(\.items) {
            for name in [item.name, item.chineseName] {
                #expect(ChatMarkdown.parse(":\(name):").text == item.face, "\(name)")
            }
            #expect(names.insert(item.name).inserted, "\(item.name) is used twice")
        }
        #expect(ChatEmoji.groups.allSatisfy { !$0.items.isEmpty } && names.count > 300)
    }

    @Test(
        arguments: [
            ("heart", -1, 0), ("heart", 0, 0), ("heart", 1, 1), ("HEART", 100, 11), ("爱心", 3, 1), ("no such name", 8, 0), ("", 5, 5),
        ])
    func aSearchOfEmojiIsBounded(text: String, limit: Int, count: Int) {
        #expect(ChatEmoji.matching(text, limit: limit).count == count)
    }

    @Test func namesThatBeginWithTheTextComeFirst() {
        let found = ChatEmoji.matching("heart", limit: 100)
        let first = found.prefix { $0.name.hasPrefix("heart") }
        #expect(first.count > 1 && first.count < found.count && !found.dropFirst(first.count).contains { $0.name.hasPrefix("heart") })
        #expect(Set(found).count == found.count)
    }
}
