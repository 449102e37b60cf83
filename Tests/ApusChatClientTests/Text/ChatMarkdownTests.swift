import ApusChatProtocol
import ApusJSON
import Foundation
import Testing

@testable import ApusChatClient

@Suite("Markdown")
struct ChatMarkdownTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The cases that the page is tested with, too (`Conformance/browser/test_page_markdown.py`).
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

    @Test func theEmojiAreThoseOfThePage() throws {
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

    @Test func spansCoverTheText() {
        let parsed = ChatMarkdown.parse("a **b *c* d** [e](https://x.example)")
        let spans = ChatTextSpan.spans(of: parsed.text, entities: parsed.entities)
        #expect(spans.map(\.text) == ["a ", "b ", "c", " d", " ", "e"])
        #expect(spans.map(\.kinds) == [[], [.bold], [.bold, .italic], [.bold], [], [.link]])
        #expect(spans.last?.url == "https://x.example")
        // Ranges of a peer may lie outside of the text.
        let wild = [
            TextEntity(kind: .bold, offset: 2, length: .max), TextEntity(kind: .code, offset: 99, length: 1),
            TextEntity(kind: .unknown, offset: 0, length: 1),
        ]
        #expect(ChatTextSpan.spans(of: "héé", entities: wild).map(\.text) == ["hé", "é"])
    }
}
