import ApusChatProtocol
import Testing

@testable import ApusChatClient

/// Marks inside of other marks, and the limits of links and names. The cases of the page are in
/// `Tests/Vectors/markdown.json`.
@Suite("Nested Markdown")
struct MarkdownNestingTests {
    private static let marks: [(mark: String, kind: TextEntityKind)] = [
        ("**", .bold), ("*", .italic), ("_", .italic), ("__", .underline), ("~~", .strike), ("||", .spoiler),
    ]

    private func words(_ entities: [TextEntity]) -> [String] { entities.map { "\($0.kind) \($0.offset)+\($0.length)" } }

    @Test(arguments: 0..<6, 0..<6) func aMarkContainsEachOtherMark(outer: Int, inner: Int) {
        guard outer != inner else { return }
        let (outside, inside) = (Self.marks[outer], Self.marks[inner])
        let source = "\(outside.mark)p \(inside.mark)x\(inside.mark) q\(outside.mark)"
        let parsed = ChatMarkdown.parse(source)
        #expect(parsed.text == "p x q", "\(source)")
        #expect(self.words(parsed.entities) == ["\(outside.kind) 0+5", "\(inside.kind) 2+1"], "\(source)")
    }

    @Test func allMarksCanBeNested() {
        let parsed = ChatMarkdown.parse("**a __b ~~c ||d *e `_f_` e* d|| c~~ b__ a**")
        #expect(parsed.text == "a b c d e _f_ e d c b a")
        #expect(
            self.words(parsed.entities)
                == ["bold 0+23", "underline 2+19", "strike 4+15", "spoiler 6+11", "italic 8+7", "code 10+3"])
    }

    /// Marks that cross are not both formats.
    @Test(
        arguments: [
            ("**a *b** c*", "a *b c*", ["bold 0+4"]), ("~~a ||b~~ c||", "a ||b c||", ["strike 0+5"]),
            ("`a **b` c**", "a **b c**", ["code 0+5"]), ("**a `b** c`", "a `b c`", ["bold 0+4"]),
        ] as [(String, String, [String])])
    func crossingMarksEndAtTheFirstClosingOne(source: String, text: String, entities: [String]) {
        let parsed = ChatMarkdown.parse(source)
        #expect(parsed.text == text && self.words(parsed.entities) == entities, "\(parsed)")
    }

    @Test(
        arguments: [
            ("> **a**\n> `b`", "a\nb", ["quote 0+3", "bold 0+1", "code 2+1"]),
            ("- **a**\n- ~~b~~", "• a\n• b", ["list 0+7", "bold 2+1", "strike 6+1"]),
            ("> a\n- b", "a\n• b", ["quote 0+1", "list 2+3"]), ("> ```\n> x\n> ```", "```\nx\n```", ["quote 0+9"]),
            ("```\n**a**\n> b\n```", "**a**\n> b", ["pre 0+9"]), ("**a\n> b\n**", "**a\nb\n**", ["quote 4+1"]),
        ] as [(String, String, [String])])
    func blocksContainMarksAndNoBlocks(source: String, text: String, entities: [String]) {
        let parsed = ChatMarkdown.parse(source)
        #expect(parsed.text == text && self.words(parsed.entities) == entities, "\(parsed)")
    }

    // MARK: Limits

    @Test(arguments: [1, 199, 200, 201]) func aTitleOfALinkIsBounded(length: Int) {
        let title = String(repeating: "x", count: length)
        let parsed = ChatMarkdown.parse("[\(title)](https://a.example)")
        #expect(parsed.text == (length <= 200 ? title : "[\(title)](https://a.example)"))
        #expect(parsed.entities.first?.length == (length <= 200 ? Int64(length) : 17))
    }

    @Test(
        arguments: [
            "ftp://a.example", "file:///etc/passwd", "data:text/html,x", "vbscript:x", "//a.example", "a.example", "https:", ":x", "",
            "java\u{200D}script:x", "https://a.example/<b>", "https://a.example/\u{202E}x", "https://a.example/\\x", "https://a\u{0}b",
        ])
    func anUnsafeAddressIsNoLink(address: String) {
        let parsed = ChatMarkdown.parse("[title](\(address))")
        #expect(!parsed.entities.contains { $0.kind == .link && $0.url == address })
        #expect(parsed.text.contains("title"))
    }

    @Test(arguments: ["http:x", "HTTPS://a.example", "mailto:a@b", "tel:1", "xmpp:a@b"]) func eachSafeSchemeIsALink(address: String) {
        let parsed = ChatMarkdown.parse("[title](\(address))")
        #expect(parsed.text == "title" && parsed.entities.first?.url == address)
    }

    /// A name is at most 32 scalars after `@`. The rest of a longer word is text.
    @Test(arguments: [1, 31, 32, 33]) func aMentionIsBounded(length: Int) {
        let name = String(repeating: "x", count: length)
        let parsed = ChatMarkdown.parse("@\(name)", mentions: [String(repeating: "x", count: min(length, 32)): Value.bob])
        #expect(parsed.text == "@\(name)")
        #expect(parsed.entities == [TextEntity(kind: .mention, offset: 0, length: Int64(min(length, 32)) + 1, user: Value.bob)])
    }

    /// The longest known name at the beginning of a word is mentioned.
    @Test(
        arguments: [
            ("@bob.", 4), ("@bob-", 4), ("@bobby", 6), ("@bobbyx", 6), ("@bo", nil), ("@BOBBY!", 6), ("@@bob", 4), ("x@bob", nil),
            ("é@bob", nil), ("٣@bob", nil), ("_@bob", 4), ("-@bob", 4), ("好@bob", 4), ("@ bob", nil),
        ] as [(String, Int64?)])
    func theLongestNameIsMentioned(source: String, length: Int64?) {
        let parsed = ChatMarkdown.parse(source, mentions: ["bob": Value.bob, "bobby": Value.name("bobby")])
        #expect(parsed.text == source && parsed.entities.map(\.length) == (length.map { [$0] } ?? []), "\(parsed)")
    }

    @Test func aUserWhoMayNotMentionAllMentionsNobody() {
        #expect(ChatMarkdown.parse("@all", all: []).entities.isEmpty)
        #expect(ChatMarkdown.parse("@everyone @all", all: ["everyone"]).entities.map(\.length) == [9])
        // A user of that name comes first.
        #expect(ChatMarkdown.parse("@all", mentions: ["all": Value.name("all")]).entities.map(\.kind) == [.mention])
    }
}
