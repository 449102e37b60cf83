public import ApusChatProtocol

/// Converts between Markdown, as users type it, and a text with entities.
///
/// It follows the rules of the page (`Web/js/text/markdown.js`): `**bold**`, `*italic*`,
/// `_italic_`, `__underline__`, `~~strike~~`, `||spoiler||`, code between backticks, blocks of code
/// between lines of three backticks, `> quotes`, `- lists`, `[links](https://example.com)`,
/// addresses, `@name` and `:emoji:`. A mark after a backslash is literal, also the mark of an item
/// of a list at the beginning of a line.
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

    /// Returns Markdown that parses to a text and its entities, for an edit of a message.
    ///
    /// A backslash precedes each character of the text that would be parsed as a mark or would
    /// begin a block.
    ///
    /// The white space around the text is omitted. Addresses of the text become links when the
    /// source is parsed.
    ///
    /// - Parameters:
    ///   - text: The text.
    ///   - entities: The entities of the text. Entities that Markdown cannot express are joined
    ///     with adjacent ones or omitted.
    public static func source(of text: String, entities: [TextEntity]) -> String {
        MarkdownSource(text, entities).markdown
    }
}
