import ApusChatProtocol

/// Parses Markdown into a text and its entities, in one pass through the scalars.
struct MarkdownParser {
    typealias Scalars = ArraySlice<Unicode.Scalar>

    private let mentions: [String: UserName]
    private let all: Set<String>
    private var text: [Unicode.Scalar] = []
    private var entities: [TextEntity] = []
    private var depth = 0
    /// Whether no fence closes a code block in the rest of the text. The search for one is then not
    /// repeated.
    private var isUnfenced = false
    /// The maximum depth of nested marks, each of which is a recursive call. Deeper marks are plain
    /// text.
    private static let maximumDepth = 32
    /// The maximum length of the address of a link (docs/chat-wire.md, Entity).
    private static let maximumAddress = 2_000

    init(mentions: [String: UserName], all: Set<String>) {
        self.mentions = mentions
        self.all = all
    }

    /// The text and its entities in the order of the protocol: an outer range precedes inner
    /// ranges.
    var result: (text: String, entities: [TextEntity]) {
        let ordered = self.entities.enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            if one.offset != other.offset { return one.offset < other.offset }
            return one.length == other.length ? left.offset < right.offset : one.length > other.length
        }
        return (String(String.UnicodeScalarView(self.text)), ordered.map(\.element))
    }

    private mutating func entity(
        _ kind: TextEntityKind, from offset: Int, url: String? = nil, user: UserName? = nil, language: String? = nil
    ) {
        guard self.text.count > offset else { return }
        self.entities.append(
            TextEntity(
                kind: kind, offset: Int64(offset), length: Int64(self.text.count - offset), url: url, user: user, language: language))
    }

    // MARK: Blocks

    mutating func parse(_ source: String) {
        var scalars: [Unicode.Scalar] = []
        for scalar in source.unicodeScalars {
            if scalar == "\n", scalars.last == "\r" { scalars.removeLast() }
            scalars.append(scalar)
        }
        var rest = scalars.map { $0 == "\r" ? "\n" : $0 }[...]
        while rest.first?.isMarkdownSpace == true { rest.removeFirst() }
        while rest.last?.isMarkdownSpace == true { rest.removeLast() }
        while !rest.isEmpty {
            if let next = self.fence(rest) ?? self.lines(rest, .quote) ?? self.lines(rest, .list) {
                rest = next
                continue
            }
            let end = rest.indices.first { $0 > rest.startIndex && rest[$0 - 1] == "\n" && Self.beginsBlock(rest[$0...]) } ?? rest.endIndex
            self.inline(rest[..<end])
            rest = rest[end...]
        }
    }

    private static func beginsBlock(_ rest: Scalars) -> Bool {
        rest.hasPrefix("```") || rest.hasPrefix("> ") || Self.itemMark(rest) != nil
    }

    /// Returns the length of the mark that begins an item of a list, with the space after it; nil
    /// if the line is no item.
    private static func itemMark(_ line: Scalars) -> Int? {
        let digits = line.prefix { ("0"..."9").contains($0) }.count
        let rest = line.dropFirst(digits)
        guard digits <= 3, let mark = rest.first, rest.dropFirst().first == " " else { return nil }
        return (digits == 0 ? "-*•" : ".)").unicodeScalars.contains(mark) ? digits + 2 : nil
    }

    /// Returns the length of the mark that begins a line of a quotation or an item of a list, with
    /// the space after it; nil if the line begins with neither.
    static func blockMark(_ line: Scalars) -> Int? { line.hasPrefix("> ") ? 2 : self.itemMark(line) }

    /// Parses a fenced code block at the start of `rest`. Returns the text after it, or nil if
    /// `rest` does not begin with a complete block that has content.
    private mutating func fence(_ rest: Scalars) -> Scalars? {
        guard !self.isUnfenced, rest.hasPrefix("```") else { return nil }
        var place = rest.startIndex + 3
        while place < rest.endIndex, place - rest.startIndex < 33, rest[place].isLanguageCharacter { place += 1 }
        let language = rest[(rest.startIndex + 3)..<place]
        while place < rest.endIndex, rest[place] == " " || rest[place] == "\t" { place += 1 }
        guard place < rest.endIndex, rest[place] == "\n" else { return nil }
        let start = place + 1
        for end in start..<max(start, rest.endIndex) {
            var mark = end
            if rest[mark] == "\n" { mark += 1 }
            guard rest[mark...].hasPrefix("```") else { continue }
            var after = mark + 3
            while after < rest.endIndex, rest[after] == " " || rest[after] == "\t" { after += 1 }
            guard after == rest.endIndex || rest[after] == "\n" else { continue }
            guard end > start else { return nil }
            let offset = self.text.count
            self.text += rest[start..<end]
            self.entity(.pre, from: offset, language: language.isEmpty ? nil : String(String.UnicodeScalarView(language)))
            return self.separated(rest[min(after + 1, rest.endIndex)...])
        }
        self.isUnfenced = true
        return nil
    }

    /// Parses the lines of a quotation or a list at the start of `rest`. Returns the text after
    /// them, or nil if `rest` does not begin with such a line.
    private mutating func lines(_ rest: Scalars, _ kind: TextEntityKind) -> Scalars? {
        var content: [Unicode.Scalar] = []
        var place = rest.startIndex
        while place < rest.endIndex {
            let end = rest[place...].firstIndex(of: "\n") ?? rest.endIndex
            let line = rest[place..<end]
            if kind == .quote {
                guard line.first == ">" else { break }
                content += line.dropFirst(line.hasPrefix("> ") ? 2 : 1)
            } else {
                guard let mark = Self.itemMark(line), line.count > mark else { break }
                let isBullet = line.first == "-" || line.first == "*"
                content += isBullet ? Array("• ".unicodeScalars) + line.dropFirst(2) : Array(line)
            }
            if end < rest.endIndex { content.append("\n") }
            place = min(end + 1, rest.endIndex)
        }
        guard place > rest.startIndex else { return nil }
        if content.last == "\n" { content.removeLast() }
        let offset = self.text.count
        self.inline(content[...])
        self.entity(kind, from: offset)
        return self.separated(rest[place...])
    }

    private mutating func separated(_ rest: Scalars) -> Scalars {
        if !rest.isEmpty { self.text.append("\n") }
        return rest
    }

    // MARK: Within a line

    private static let marks: [(mark: [Unicode.Scalar], kind: TextEntityKind)] = [
        (["*", "*"], .bold), (["_", "_"], .underline), (["~", "~"], .strike), (["|", "|"], .spoiler), (["*"], .italic), (["_"], .italic),
    ]

    private mutating func inline(_ source: Scalars) {
        self.depth += 1
        defer { self.depth -= 1 }
        var place = source.startIndex
        var plain: [Unicode.Scalar] = []
        var unclosed = [Int](repeating: source.startIndex, count: Self.marks.count)
        while place < source.endIndex {
            let rest = source[place...]
            if Self.isEscape(rest) || Self.isEscapedItem(source, place) {
                self.linked(&plain)
                self.text.append(source[place + 1])
                place += 2
            } else if let end = Self.code(rest) {
                self.linked(&plain)
                let offset = self.text.count
                self.text += source[(place + 1)..<end]
                self.entity(.code, from: offset)
                place = end + 1
            } else if let link = Self.link(rest) {
                self.linked(&plain)
                let offset = self.text.count
                self.text += ChatEmoji.replacingNames(in: link.title)
                self.entity(.link, from: offset, url: link.url)
                place = link.end
            } else if rest.hasAddress, plain.last?.isWordCharacter != true {
                let end = rest.firstIndex(where: \.endsAddress) ?? rest.endIndex
                plain += rest[..<end]
                place = end
            } else if self.depth < Self.maximumDepth, let (kind, inner, end) = Self.marked(rest, in: source, &unclosed) {
                self.linked(&plain)
                let offset = self.text.count
                self.inline(inner)
                self.entity(kind, from: offset)
                place = end
            } else {
                plain.append(source[place])
                place += 1
            }
        }
        self.linked(&plain)
    }

    /// Whether the text begins with a backslash and a character that it makes literal.
    private static func isEscape(_ rest: Scalars) -> Bool {
        guard rest.first == "\\", let next = rest.dropFirst().first else { return false }
        return "\\*_~|`[]@>:：".unicodeScalars.contains(next)
    }

    /// Whether the beginning of a line is the mark of an item of a list with a backslash at
    /// `place`, which makes it literal.
    private static func isEscapedItem(_ source: Scalars, _ place: Int) -> Bool {
        guard source[place] == "\\", place + 2 < source.endIndex, source[place + 2] == " " else { return false }
        let digits = source[..<place].suffix(4).reversed().prefix { ("0"..."9").contains($0) }.count
        let start = place - digits
        guard digits <= 3, start == source.startIndex || source[start - 1] == "\n" else { return false }
        return (digits == 0 ? "-•" : ".)").unicodeScalars.contains(source[place + 1])
    }

    /// Returns the position of the backtick that ends code within a line; nil if there is no code.
    private static func code(_ rest: Scalars) -> Int? {
        guard rest.first == "`", let end = rest.dropFirst().firstIndex(of: "`"), end > rest.startIndex + 1,
            !rest[..<end].contains("\n")
        else { return nil }
        return end
    }

    private static func link(_ rest: Scalars) -> (title: [Unicode.Scalar], url: String, end: Int)? {
        // A title has at most 200 scalars, so that the search for its end is bounded.
        guard rest.first == "[", let close = rest.prefix(202).firstIndex(of: "]") else { return nil }
        let title = rest[(rest.startIndex + 1)..<close]
        guard !title.isEmpty, !title.contains("\n"), rest[close...].dropFirst().first == "(" else { return nil }
        let start = close + 2
        guard let end = rest[start...].firstIndex(where: { $0 == "(" || $0 == ")" || $0.isMarkdownSpace }), rest[end] == ")" else {
            return nil
        }
        let url = String(String.UnicodeScalarView(rest[start..<end]))
        guard (1...Self.maximumAddress).contains(end - start), EntityRule.isSafe(url) else { return nil }
        return (Array(title), url, end + 1)
    }

    /// Finds a marked range at the start of a text.
    ///
    /// - Parameter unclosed: For each mark, the position up to which a search found no closing
    ///   mark. Before that position, the search is not repeated.
    private static func marked(
        _ rest: Scalars, in source: Scalars, _ unclosed: inout [Int]
    ) -> (kind: TextEntityKind, inner: Scalars, end: Int)? {
        let before = rest.startIndex > source.startIndex ? source[rest.startIndex - 1] : " "
        for (index, (mark, kind)) in Self.marks.enumerated() where rest.starts(with: mark) {
            let start = rest.startIndex + mark.count
            guard start < rest.endIndex, start >= unclosed[index], !rest[start].isMarkdownSpace else { continue }
            if mark[0] == "_", before.isLetterOrNumber { continue }
            let (end, limit) = Self.closing(rest, mark)
            if let end { return (kind, rest[start..<end], end + mark.count) }
            unclosed[index] = limit
        }
        return nil
    }

    /// Returns the position of the mark that closes a range, in a text that begins with the opening
    /// mark. If no mark closes it, returns the position at which the search ended. A mark after a
    /// backslash closes nothing.
    private static func closing(_ rest: Scalars, _ mark: [Unicode.Scalar]) -> (end: Int?, limit: Int) {
        let start = rest.startIndex + mark.count
        func at(_ index: Int) -> Unicode.Scalar? { index < rest.endIndex ? rest[index] : nil }
        var place = start
        var checked = start
        // The position after the last escaped character.
        var escaped = start
        while place < rest.endIndex {
            var end = place
            while end < rest.endIndex, !rest[end...].starts(with: mark) {
                let isEscape = Self.isEscape(rest[end...])
                end += isEscape ? 2 : 1
                if isEscape { escaped = end }
            }
            guard end < rest.endIndex else { break }
            if mark.count == 2 { while at(end + 2) == mark[0] { end += 1 } }
            // A marked range does not contain an empty line. Each position is examined once.
            while checked + 1 < end {
                if rest[checked] == "\n", rest[checked + 1] == "\n" { return (nil, checked) }
                checked += 1
            }
            let isDoubled = mark.count == 1 && (at(end + 1) == mark[0] || (end > escaped && rest[end - 1] == mark[0]))
            let isWord = mark[0] == "_" && at(end + mark.count)?.isLetterOrNumber == true
            if end > start, !rest[end - 1].isMarkdownSpace, !isDoubled, !isWord { return (end, end) }
            place = end + (isDoubled ? 2 : 1)
        }
        return (nil, rest.endIndex)
    }

    // MARK: Addresses and mentions

    /// Appends a text without marks. Addresses and mentions in it become entities.
    private mutating func linked(_ plain: inout [Unicode.Scalar]) {
        let text = plain[...]
        plain = []
        var done = text.startIndex
        var place = text.startIndex
        while place < text.endIndex {
            guard text[place...].hasAddress, place == text.startIndex || !text[place - 1].isWordCharacter else {
                place += 1
                continue
            }
            let head = text[place...].firstIndex(of: "/").map { $0 + 2 } ?? text.endIndex
            let stop = text[place...].firstIndex(where: \.endsAddress) ?? text.endIndex
            let address = Self.withoutPunctuation(text[place..<stop])
            let url = String(String.UnicodeScalarView(address))
            place = max(stop, place + 1)
            guard stop > head else { continue }
            self.mentioned(text[done..<address.startIndex])
            let offset = self.text.count
            self.text += address
            // An address that is unsafe or too long for a link is text without mentions.
            if address.count <= Self.maximumAddress, EntityRule.isSafe(url) { self.entity(.link, from: offset, url: url) }
            done = address.endIndex
        }
        self.mentioned(text[done...])
    }

    /// Returns an address without the punctuation at its end, which belongs to the sentence.
    private static func withoutPunctuation(_ address: Scalars) -> Scalars {
        var end = address
        while let last = end.last, ".,:;!?)]}".unicodeScalars.contains(last) { end.removeLast() }
        // A closing parenthesis belongs to an address that contains an opening one.
        return end.endIndex < address.endIndex && address[end.endIndex] == ")" && address.contains("(") ? address[...end.endIndex] : end
    }

    /// Appends a text without marks and addresses. Names of emoji and mentions in it are replaced.
    private mutating func mentioned(_ source: Scalars) {
        let text = ChatEmoji.replacingNames(in: Array(source))[...]
        var done = text.startIndex
        var place = text.startIndex
        while let at = text[place...].firstIndex(of: "@") {
            var end = at + 1
            while end < text.endIndex, end - at <= 32, text[end].isNameCharacter { end += 1 }
            place = end
            guard end > at + 1 else { continue }
            if at > text.startIndex, text[at - 1].isLatinOrNumber { continue }
            var name = text[(at + 1)..<end]
            while !name.isEmpty, self.mentions[Self.lower(name)] == nil, !self.all.contains(Self.lower(name)) { name.removeLast() }
            guard !name.isEmpty else { continue }
            self.text += text[done..<at]
            let offset = self.text.count
            self.text += text[at..<name.endIndex]
            if let user = self.mentions[Self.lower(name)] {
                self.entity(.mention, from: offset, user: user)
            } else {
                self.entity(.all, from: offset)
            }
            done = name.endIndex
        }
        self.text += text[done...]
    }

    private static func lower(_ name: Scalars) -> String { String(String.UnicodeScalarView(name)).lowercased() }
}
