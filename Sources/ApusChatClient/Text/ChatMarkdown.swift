public import ApusChatProtocol

/// Converts between Markdown, as users type it, and a text with entities.
///
/// It follows the rules of the page (`Web/js/text/markdown.js`): `**bold**`, `*italic*`,
/// `_italic_`, `__underline__`, `~~strike~~`, `||spoiler||`, code between backticks, blocks of code
/// between lines of three backticks, `> quotes`, `- lists`, `[links](https://example.com)`,
/// addresses, `@name` and `:emoji:`. A character after a backslash is literal.
/// `Tests/Vectors/markdown.json` has the test cases of both implementations.
public enum ChatMarkdown {
    /// Parses the input of a user.
    ///
    /// - Parameters:
    ///   - source: The Markdown.
    ///   - mentions: The users who can be mentioned, by the lower-case names that are typed after
    ///     `@`. Other names are plain text.
    ///   - all: The lower-case words that mention all members after `@`. Default: `all`. Pass an
    ///     empty set if the user may not mention all members.
    /// - Returns: The text without the marks, and its entities.
    public static func parse(
        _ source: String, mentions: [String: UserName] = [:], all: Set<String> = ["all"]
    ) -> (text: String, entities: [TextEntity]) {
        var parser = MarkdownParser(mentions: mentions, all: all)
        parser.parse(source)
        return parser.result
    }

    /// Returns Markdown that parses to a text and its entities, for an edit of a message. Escapes
    /// marks of the text itself that would format it.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - entities: The entities of the text. Entities that Markdown cannot express are omitted.
    public static func source(of text: String, entities: [TextEntity]) -> String {
        let source = Self.source(of: text, entities, escapes: [])
        let parsed = Self.parse(source)
        let isKept = parsed.text == text && Self.formats(parsed.entities) == Self.formats(entities)
        // A backslash of the text would escape the one before `@`.
        if isKept, !text.contains("\\@") { return source }
        let escapes: Set<Unicode.Scalar> = ["\\", "*", "_", "~", "|", "`", "["]
        let hasNames = String(String.UnicodeScalarView(ChatEmoji.replacingNames(in: Array(text.unicodeScalars)))) != text
        return Self.escapedSource(of: text, entities, hasNames ? escapes.union([":"]) : escapes)
    }

    /// Returns Markdown with escapes. Omits the entities whose marks would become a part of the
    /// text, such as code that contains a backtick, or a link whose address contains a parenthesis.
    private static func escapedSource(of text: String, _ entities: [TextEntity], _ escapes: Set<Unicode.Scalar>) -> String {
        let plain = Self.parse(Self.source(of: text, [], escapes: escapes)).text
        func keepsText(_ entities: [TextEntity]) -> Bool {
            let parsed = Self.parse(Self.source(of: text, entities, escapes: escapes)).text
            return parsed == text || parsed == plain
        }
        var kept = entities
        if !keepsText(kept) {
            kept = []
            for entity in entities where keepsText(kept + [entity]) { kept.append(entity) }
        }
        return Self.source(of: text, kept, escapes: escapes)
    }

    /// Returns the entities that Markdown expresses by marks.
    private static func formats(_ entities: [TextEntity]) -> Set<TextEntity> {
        Set(
            entities.filter {
                switch $0.kind {
                case .bold, .italic, .underline, .strike, .spoiler, .code, .pre: true
                default: false
                }
            })
    }

    /// Returns the Markdown of a text and its entities.
    ///
    /// A backslash precedes `@` before a name that is not mentioned: after an edit, it must not
    /// notify the user of the name.
    ///
    /// - Parameter escapes: The other characters of the text that a backslash precedes, except in
    ///   code, addresses and mentions, where it would be a part of the content.
    private static func source(of text: String, _ entities: [TextEntity], escapes: Set<Unicode.Scalar>) -> String {
        var scalars = Array(text.unicodeScalars)
        var inserts: [(place: Int, order: Int, mark: String)] = []
        var literal = Set<Int>()
        for entity in entities {
            let start = Int(clamping: entity.offset)
            guard entity.length > 0, start >= 0, start < scalars.count else { continue }
            let end = start + min(Int(clamping: entity.length), scalars.count - start)
            if [.code, .pre, .link, .mention, .all].contains(entity.kind) { literal.formUnion(start..<end) }
            switch entity.kind {
            case .bold, .italic, .underline, .strike, .spoiler, .code:
                let mark = Self.marks[entity.kind] ?? ""
                inserts += [(start, 1, mark), (end, 0, mark)]
            case .pre: inserts += [(start, 1, "```\(entity.language ?? "")\n"), (end, 0, "\n```")]
            case .link:
                guard let url = entity.url, !scalars[start..<end].elementsEqual(url.unicodeScalars) else { continue }
                inserts += [(start, 1, "["), (end, 0, "](\(url))")]
            case .quote:
                inserts.append((start, 1, "> "))
                for place in start..<max(start, end - 1) where scalars[place] == "\n" { inserts.append((place + 1, 1, "> ")) }
            case .list, .mention, .all, .hashtag, .unknown: continue
            }
        }
        let boundaries = Set(inserts.map(\.place))
        // In an address, a backslash is not an escape.
        var place = 0
        while place < scalars.count {
            let before = place == 0 || boundaries.contains(place) ? " " : scalars[place - 1]
            guard scalars[place...].hasAddress, !before.isWordCharacter || escapes.contains(before) else {
                place += 1
                continue
            }
            repeat {
                literal.insert(place)
                place += 1
            } while place < scalars.count && !scalars[place].endsAddress && !boundaries.contains(place)
        }
        for (place, scalar) in scalars.enumerated() where !literal.contains(place) {
            // A word before `@` makes an address of it, unless a mark stands between them.
            let beginsName =
                scalar == "@" && place + 1 < scalars.count && scalars[place + 1].isNameCharacter
                && (place == 0 || !scalars[place - 1].isLatinOrNumber || boundaries.contains(place))
            // A `>` at the beginning of a line would begin a quotation.
            let beginsQuote = scalar == ">" && !escapes.isEmpty && (place == 0 || scalars[place - 1] == "\n")
            if beginsName || beginsQuote || escapes.contains(scalar) { inserts.append((place, 2, "\\")) }
        }
        // Inserts the marks from the end of the text, so that earlier positions remain valid. The
        // order of marks at one position must be kept.
        let ordered = inserts.enumerated().sorted { left, right in
            if left.element.place != right.element.place { return left.element.place > right.element.place }
            if left.element.order != right.element.order { return left.element.order > right.element.order }
            return left.offset < right.offset
        }
        for (_, insert) in ordered { scalars.insert(contentsOf: insert.mark.unicodeScalars, at: insert.place) }
        let lines = String(String.UnicodeScalarView(scalars)).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.map { $0.hasPrefix("• ") ? "- " + $0.dropFirst(2) : $0 }.joined(separator: "\n")
    }

    private static let marks: [TextEntityKind: String] = [
        .bold: "**", .italic: "*", .underline: "__", .strike: "~~", .spoiler: "||", .code: "`",
    ]
}
