public import ApusChatProtocol

/// Markdown as users type it: a text with entities, and back.
///
/// It follows the rules of the page (`Web/js/text/markdown.js`): `**bold**`, `*italic*`,
/// `_italic_`, `__underline__`, `~~strike~~`, `||spoiler||`, code between backticks, blocks of code
/// between lines of three backticks, `> quotes`, `- lists`, `[links](https://example.com)`,
/// addresses, `@name` and `:emoji:`. A backslash takes the meaning of a character away.
/// `Tests/Vectors/markdown.json` has the cases that both are tested with.
public enum ChatMarkdown {
    /// Parses what a user typed.
    ///
    /// - Parameters:
    ///   - source: The text with its marks.
    ///   - mentions: The users that can be mentioned, by the lower-case names that are typed after
    ///     `@`. Other names stay text.
    ///   - all: The lower-case words after `@` that mention all members. Default: `all`. Pass none
    ///     where the user may not mention all.
    /// - Returns: The text without the marks, and the ranges with a meaning.
    public static func parse(
        _ source: String, mentions: [String: UserName] = [:], all: Set<String> = ["all"]
    ) -> (text: String, entities: [TextEntity]) {
        var parser = MarkdownParser(mentions: mentions, all: all)
        parser.parse(source)
        return parser.result
    }

    /// Returns the Markdown that gives a text and its entities, for a change of a message.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - entities: The ranges with a meaning. Those that Markdown cannot express stay text.
    public static func source(of text: String, entities: [TextEntity]) -> String {
        var scalars = Array(text.unicodeScalars)
        var inserts: [(place: Int, order: Int, mark: String)] = []
        for entity in entities {
            let start = Int(clamping: entity.offset)
            guard entity.length > 0, start >= 0, start < scalars.count else { continue }
            let end = start + min(Int(clamping: entity.length), scalars.count - start)
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
        // From the end, so that the places before stay valid. The sort has to be stable.
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
