import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

@Suite("Markdown")
struct ChatMarkdownTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The cases are also those of the page (`Conformance/browser/test_page_markdown.py`).
    @Test func theCasesOfThePageGiveTheSame() throws {
        let data = try Data(contentsOf: Self.root.appendingPathComponent("Tests/Vectors/markdown.json"))
        let vectors = try JSONReader.read(Array(data))
        let mentions = ["bob": Value.bob, "张三": Value.name("zhang")]
        let cases = try #require(vectors["cases"]?.arrayValue)
        #expect(cases.count > 60)
        for one in cases {
            let source = try #require(one["source"]?.stringValue)
            let parsed = ChatMarkdown.parse(source, mentions: mentions)
            let entities = try (one["entities"]?.arrayValue ?? []).map { try TextEntity(json: $0) }
            #expect(parsed.text == one["text"]?.stringValue, "the text of \(source.debugDescription)")
            #expect(parsed.entities == entities, "the entities of \(source.debugDescription)")
            let markdown = ChatMarkdown.source(of: parsed.text, entities: parsed.entities)
            #expect(markdown == one["markdown"]?.stringValue, "the source of \(source.debugDescription)")
            if !parsed.text.isEmpty { try EntityRule.validate(parsed.entities, of: parsed.text) }
        }
    }

    /// An edit without a change keeps the text, and the entities that Markdown can express.
    @Test func theEditsOfThePageGiveTheSame() throws {
        let data = try Data(contentsOf: Self.root.appendingPathComponent("Tests/Vectors/markdown.json"))
        let edits = try #require(try JSONReader.read(Array(data))["edits"]?.arrayValue)
        #expect(edits.count > 40)
        for edit in edits {
            let text = try #require(edit["text"]?.stringValue)
            let entities = try (edit["entities"]?.arrayValue ?? []).map { try TextEntity(json: $0) }
            let kept = try (edit["kept"]?.arrayValue ?? []).map { try TextEntity(json: $0) }
            let markdown = ChatMarkdown.source(of: text, entities: entities)
            #expect(markdown == edit["markdown"]?.stringValue, "the source of \(text.debugDescription)")
            let parsed = ChatMarkdown.parse(markdown, mentions: ["bob": Value.bob])
            #expect(parsed.text == edit["trimmed"]?.stringValue ?? text, "the text of \(markdown.debugDescription)")
            #expect(parsed.entities == kept, "the entities of \(markdown.debugDescription)")
        }
    }

    @Test func theEmojiMatchThePage() throws {
        let page = try String(contentsOf: Self.root.appendingPathComponent("Web/js/text/emoji.js"), encoding: .utf8)
        for group in ChatEmoji.groups {
            let list = group.items.map { "\($0.face) \($0.name) \($0.chineseName)" }.joined(separator: ",")
            #expect(page.contains("  \(group.key): \"\(list)\","), "the group \(group.key)")
        }
        #expect(ChatEmoji.matching("hear", limit: 2).map(\.name) == ["heart_eyes", "heart"])
    }

    @Test func deepMarksStayText() {
        let source = String(repeating: "*_", count: 2_000) + "x" + String(repeating: "_*", count: 2_000)
        let parsed = ChatMarkdown.parse(source)
        let place = Int64(
            parsed.text.unicodeScalars.distance(
                from: parsed.text.startIndex, to: parsed.text.firstIndex(of: "x") ?? parsed.text.endIndex))
        let around = parsed.entities.filter { $0.offset <= place && place < $0.offset + $0.length }
        #expect((1...32).contains(around.count))
    }

    /// Source code, for example, contains hundreds of marks without a closing one.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["char *a, ", "*a ", "_a b", "**a ", "~~ ", "||x ", "[a](", "`", "> ", "- x\n", "```\n", ":a", "@a ", "\\"])
    func marksWithoutAnEndTakeBoundedTime(part: String) {
        let source = String(repeating: part, count: 8_000 / part.unicodeScalars.count)
        let parsed = ChatMarkdown.parse(source, mentions: ["bob": Value.bob])
        #expect(parsed.text.unicodeScalars.count <= 8_000)
        if !parsed.text.isEmpty, parsed.entities.count <= ChatLimits.entities {
            #expect(throws: Never.self) { try EntityRule.validate(parsed.entities, of: parsed.text) }
        }
    }

    /// A search for the closing fence of each block would examine 10 billion characters.
    @Test(.timeLimit(.minutes(5)))
    func fencesWithoutAnEndAreSearchedOnce() {
        let source = String(repeating: "```a\n", count: 60_000) + "```b"
        let parsed = ChatMarkdown.parse(source)
        #expect(parsed.text == source && parsed.entities.isEmpty)
        let closed = ChatMarkdown.parse("```\nx\n```\n```a\n```b\n```")
        #expect(closed.text == "x\n```b" && closed.entities.map(\.kind) == [.pre, .pre])
    }

    /// An edit without a change sends the original text and entities.
    @Test(arguments: [
        "plain", "**bold** and *italic*", "`code *x*`", "> quote\n> more", "- one\n- two", "[title](https://a.example)",
        "~~x~~ ||y|| __z__",
        "```swift\nlet a = 1\n```", "https://a.example/x_y_z", "@bob hi @all", "👍 **👨‍👩‍👧** 你好",
    ])
    func aSourceGivesTheSameAgain(source: String) {
        let mentions = ["bob": Value.bob]
        let first = ChatMarkdown.parse(source, mentions: mentions)
        let second = ChatMarkdown.parse(ChatMarkdown.source(of: first.text, entities: first.entities), mentions: mentions)
        #expect(second.text == first.text && second.entities == first.entities)
    }

    /// An edit must not format a text that has Markdown marks but no format, such as source code.
    @Test(arguments: [
        "a*b*c", "2 * 3 * 4", "_x_", "snake_case", "`tick`", "a\\*b", "||no secret||", "~~a~~", "**a** :wave:", "\\", "\\\\", "*\n*",
        "__init__", "*", "**", "***", "a*", "_", "__", "||",
    ])
    func marksOfATextStay(text: String) {
        let parsed = ChatMarkdown.parse(ChatMarkdown.source(of: text, entities: []))
        #expect(parsed.text == text && parsed.entities.isEmpty)
        let bold = [TextEntity(kind: .bold, offset: 0, length: Int64(text.unicodeScalars.count))]
        let again = ChatMarkdown.parse(ChatMarkdown.source(of: text, entities: bold))
        #expect(again.text == text && again.entities == bold)
    }

    @Test(arguments: [
        [TextEntity(kind: .bold, offset: -1, length: 2)], [TextEntity(kind: .bold, offset: 0, length: .max)],
        [TextEntity(kind: .bold, offset: .max, length: .max)], [TextEntity(kind: .quote, offset: 1, length: .max)],
        [TextEntity(kind: .pre, offset: 2, length: 0)], [TextEntity(kind: .link, offset: 0, length: 1)],
    ])
    func rangesOfAPeerGiveASource(entities: [TextEntity]) {
        for text in ["", "a", "ab\ncd", "👍\n"] {
            #expect(ChatMarkdown.source(of: text, entities: entities) == text.split(separator: "\n").joined(separator: "\n"))
        }
    }

    @Test func spansCoverTheText() {
        let parsed = ChatMarkdown.parse("a **b *c* d** [e](https://x.example)")
        let spans = ChatTextSpan.spans(of: parsed.text, entities: parsed.entities)
        #expect(spans.map(\.text) == ["a ", "b ", "c", " d", " ", "e"])
        #expect(spans.map(\.kinds) == [[], [.bold], [.bold, .italic], [.bold], [], [.link]])
        #expect(spans.last?.url == "https://x.example")
        // The ranges of a received entity may lie outside of the text.
        let wild = [
            TextEntity(kind: .bold, offset: 2, length: .max), TextEntity(kind: .code, offset: 99, length: 1),
            TextEntity(kind: .unknown, offset: 0, length: 1),
        ]
        #expect(ChatTextSpan.spans(of: "héé", entities: wild).map(\.text) == ["hé", "é"])
    }
}
