import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Testing

@testable import ApusChatClient

/// Random Markdown. The parsed text and its entities are a body that the server accepts, and an
/// edit without a change keeps the text.
@Suite("Markdown of any source", .timeLimit(.minutes(5)))
struct MarkdownPropertyTests {
    private static let mentions = ["bob": Value.bob, "王": Value.name("wang")]
    private static let parts = [
        "a", "b ", " ", "\n", "\n\n", "*", "**", "_", "__", "~~", "||", "`", "```", "```swift\n", "\n```\n", "> ", "- ", "* ", "[", "]",
        "(",
        ")", "](https://a.example)", "[t](mailto:a@b.c)", "https://a.example/x_y", "http://", "@bob", "@all", "@王", "@", ":wave:", ":",
        "\\",
        "\\*", "é", "e\u{301}", "鸟", "👍🏽", "👨‍👩‍👧", "\u{200D}", "\u{202E}", "\u{0}", "\u{A0}", "\u{2028}", "\r\n", "\r", "\t", "• ", "1. ",
        "snake_case", "2*3*4", "://", "<", ">", "\"", ",", ".", "!",
    ]

    private func source(_ count: Int, with generator: inout SplitMix64) -> String {
        (0..<count).map { _ in Self.parts.randomElement(using: &generator) ?? "a" }.joined()
    }

    /// Returns the error of the server for a parsed text; nil if it accepts the text.
    private func problem(_ text: String, _ entities: [TextEntity]) -> WireError? {
        do throws(WireError) {
            let accepted = try ChatKinds.accept(kind: .text, body: TextBody(text: text, entities: entities).json.objectValue ?? [:])
            #expect(accepted.fields["text"]?.stringValue?.utf8.elementsEqual(text.utf8) == true)
            return nil
        } catch { return error }
    }

    @Test func theServerAcceptsParsedMarkdown() {
        var generator = SplitMix64(state: 91)
        for _ in 0..<6_000 {
            let source = self.source(Int.random(in: 1...30, using: &generator), with: &generator)
            let (text, entities) = ChatMarkdown.parse(source, mentions: Self.mentions)
            guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else { continue }
            let error = self.problem(text, entities)
            #expect(error == nil, "\(source.debugDescription): \(error.map(String.init(describing:)) ?? "")")
        }
    }

    /// Values at the limits of the protocol: a value that exceeds its limit remains text without a
    /// format.
    @Test(arguments: [1_000, 1_900, 1_983, 1_984, 2_000, 2_001, 5_000])
    func aLongAddressIsAcceptedOrText(length: Int) {
        let address = "https://a.example" + "/" + String(repeating: "x", count: length - 18)
        for source in [address, "see \(address) there", "[title](\(address))", "**\(address)**", "<\(address)>"] {
            let (text, entities) = ChatMarkdown.parse(source)
            #expect(self.problem(text, entities) == nil, "\(source.prefix(12)) \(length)")
            #expect(entities.contains { $0.kind == .link } == (length <= 2_000), "\(source.prefix(12)) \(length)")
        }
    }

    @Test(arguments: [1, 29, 30, 31, 40])
    func aLongLanguageIsAcceptedOrText(length: Int) {
        let (text, entities) = ChatMarkdown.parse("```\(String(repeating: "a", count: length))\nlet x\n```")
        #expect(self.problem(text, entities) == nil)
        #expect(entities.contains { $0.kind == .pre && $0.language?.count == length } == (length <= 30))
    }

    /// An edit that changes nothing keeps the text and its formats. Texts that contain Markdown
    /// marks are tested by `marksOfATextStay`.
    @Test func aSourceKeepsTheTextAndItsFormats() {
        var generator = SplitMix64(state: 93)
        let kinds: Set<TextEntityKind> = [.bold, .italic, .underline, .strike, .spoiler, .code, .link]
        var formatted = 0
        for _ in 0..<20_000 {
            let source = self.source(Int.random(in: 1...12, using: &generator), with: &generator)
            let first = ChatMarkdown.parse(source, mentions: Self.mentions)
            let isPlain = !first.text.unicodeScalars.contains { "\\*_~|`[](<>:-•\n\r\u{2028}".unicodeScalars.contains($0) }
            let isInside = first.text.unicodeScalars.first?.properties.isWhitespace == false
            guard isPlain, isInside, first.entities.allSatisfy({ kinds.contains($0.kind) }) else { continue }
            let edited = ChatMarkdown.source(of: first.text, entities: first.entities)
            let second = ChatMarkdown.parse(edited, mentions: Self.mentions)
            let isSame = second.text.unicodeScalars.elementsEqual(first.text.unicodeScalars) && second.entities == first.entities
            #expect(isSame, "\(source.debugDescription) is \(first), edited as \(edited.debugDescription)")
            if !first.entities.isEmpty { formatted += 1 }
        }
        #expect(formatted > 100)
    }

    /// A text without a format or a mention remains without one, also if it looks like Markdown.
    @Test func aPlainTextStaysPlain() {
        var generator = SplitMix64(state: 97)
        let kinds: Set<TextEntityKind> = [.bold, .italic, .underline, .strike, .spoiler, .code, .mention, .all]
        for _ in 0..<4_000 {
            let text = (0..<Int.random(in: 1...10, using: &generator)).map { _ in
                [
                    "a", "b", "*", "**", "_", "__", "~~", "||", "`", "\\", "[", "]", "(x)", "鸟", ".", "a b", "@bob", "@all", "@王", "@",
                    "https://a.example/", ":wave:", "\"",
                ].randomElement(using: &generator) ?? "a"
            }.joined()
            let parsed = ChatMarkdown.parse(ChatMarkdown.source(of: text, entities: []), mentions: Self.mentions)
            #expect(parsed.text == text && !parsed.entities.contains { kinds.contains($0.kind) }, "\(text.debugDescription)")
        }
    }

    /// Texts of other applications: any text, with any entities.
    @Test func anEditWithoutAChangeNeverChangesTheText() {
        var generator = SplitMix64(state: 103)
        let kinds: [TextEntityKind] = [
            .bold, .italic, .underline, .strike, .spoiler, .code, .pre, .quote, .list, .link, .mention, .all, .hashtag,
        ]
        var kept = 0
        for _ in 0..<4_000 {
            let text = self.source(Int.random(in: 1...9, using: &generator), with: &generator)
            let scalars = Array(text.unicodeScalars)
            let entities = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
                let offset = Int64.random(in: 0..<Int64(scalars.count), using: &generator)
                let kind = kinds.randomElement(using: &generator) ?? .bold
                return TextEntity(
                    kind: kind, offset: offset, length: .random(in: 1...(Int64(scalars.count) - offset), using: &generator),
                    url: kind == .link ? ["https://a.example/x_(y)", "mailto:a@b.c"].randomElement(using: &generator) : nil,
                    user: kind == .mention ? Value.bob : nil)
            }
            func content(_ entity: TextEntity) -> String {
                String(String.UnicodeScalarView(scalars[Int(entity.offset)...].prefix(Int(entity.length))))
            }
            let names = entities.filter { $0.kind == .mention }.map { String(content($0).unicodeScalars.dropFirst()).lowercased() }
            let markdown = ChatMarkdown.source(of: text, entities: entities)
            let edited = ChatMarkdown.parse(markdown, mentions: Dictionary(names.map { ($0, Value.bob) }) { first, _ in first })
            let trimmed = MarkdownSource(text, []).text
            #expect(
                edited.text.unicodeScalars.elementsEqual(trimmed.unicodeScalars), "\(text.debugDescription): \(markdown.debugDescription)")
            // Each kind of the edited text is one of the entities, or an address.
            let known = Set(entities.map(\.kind)).union([.link])
            #expect(edited.entities.allSatisfy { known.contains($0.kind) }, "\(text.debugDescription): \(markdown.debugDescription)")
            kept += edited.entities.count
        }
        #expect(kept > 1_000)
    }

    /// Spans cover the text once, and each entity has its characters.
    @Test func spansMatchTheEntities() {
        var generator = SplitMix64(state: 101)
        for _ in 0..<3_000 {
            let source = self.source(Int.random(in: 1...15, using: &generator), with: &generator)
            let (text, entities) = ChatMarkdown.parse(source, mentions: Self.mentions)
            let spans = ChatTextSpan.spans(of: text, entities: entities)
            #expect(spans.flatMap { Array($0.text.unicodeScalars) }.elementsEqual(text.unicodeScalars), "\(source.debugDescription)")
            var place: Int64 = 0
            for span in spans {
                let inside = entities.filter { $0.offset <= place && place < $0.offset + $0.length }
                #expect(span.kinds == Set(inside.map(\.kind)), "\(source.debugDescription)")
                place += Int64(span.text.unicodeScalars.count)
            }
        }
    }
}
