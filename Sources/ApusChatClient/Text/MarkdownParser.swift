import ApusChatProtocol

/// Collects a text and its entities while it walks through the scalars of a source.
struct MarkdownParser {
    typealias Scalars = ArraySlice<Unicode.Scalar>

    private let mentions: [String: UserName]
    private let all: Set<String>
    private var text: [Unicode.Scalar] = []
    private var entities: [TextEntity] = []
    private var depth = 0
    /// Deeper marks stay text, because each level is a call.
    private static let maximumDepth = 32

    init(mentions: [String: UserName], all: Set<String>) {
        self.mentions = mentions
        self.all = all
    }

    /// The text, and the entities in the order of the wire: outer ranges before those inside.
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
        rest.hasPrefix("```") || rest.hasPrefix("> ") || rest.hasPrefix("- ") || rest.hasPrefix("* ")
    }

    /// Takes a block of code. Returns what follows; nil if there is none.
    private mutating func fence(_ rest: Scalars) -> Scalars? {
        guard rest.hasPrefix("```") else { return nil }
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
        return nil
    }

    /// Takes the lines of a quotation or a list. Returns what follows; nil if there are none.
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
                guard line.hasPrefix("- ") || line.hasPrefix("* "), line.count > 2 else { break }
                content += Array("• ".unicodeScalars) + line.dropFirst(2)
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
        func rest() -> Scalars { source[place...] }
        while place < source.endIndex {
            let rest = source[place...]
            if rest.first == "\\", let next = rest.dropFirst().first, "\\*_~|`[]@>:".unicodeScalars.contains(next) {
                self.linked(&plain)
                self.text.append(next)
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
            } else if rest.hasAddress {
                let end = rest.firstIndex(where: \.isMarkdownSpace) ?? rest.endIndex
                plain += rest[..<end]
                place = end
            } else if self.depth < Self.maximumDepth, let (kind, inner, end) = Self.marked(rest, in: source) {
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

    /// The end of code within a line.
    private static func code(_ rest: Scalars) -> Int? {
        guard rest.first == "`", let end = rest.dropFirst().firstIndex(of: "`"), end > rest.startIndex + 1,
            !rest[..<end].contains("\n")
        else { return nil }
        return end
    }

    private static func link(_ rest: Scalars) -> (title: [Unicode.Scalar], url: String, end: Int)? {
        guard rest.first == "[", let close = rest.firstIndex(of: "]") else { return nil }
        let title = rest[(rest.startIndex + 1)..<close]
        guard (1...200).contains(title.count), !title.contains("\n"), rest[close...].dropFirst().first == "(" else { return nil }
        let start = close + 2
        guard let end = rest[start...].firstIndex(where: { $0 == "(" || $0 == ")" || $0.isMarkdownSpace }), rest[end] == ")" else {
            return nil
        }
        let url = String(String.UnicodeScalarView(rest[start..<end]))
        guard (1...2_000).contains(end - start), EntityRule.isSafe(url) else { return nil }
        return (Array(title), url, end + 1)
    }

    /// A range between marks at the start of a text.
    private static func marked(_ rest: Scalars, in source: Scalars) -> (kind: TextEntityKind, inner: Scalars, end: Int)? {
        let before = rest.startIndex > source.startIndex ? source[rest.startIndex - 1] : " "
        for (mark, kind) in Self.marks where rest.starts(with: mark) {
            let start = rest.startIndex + mark.count
            guard start < rest.endIndex, !rest[start].isMarkdownSpace else { continue }
            if mark[0] == "_", before.isLetterOrNumber { continue }
            if let end = Self.closing(rest, mark) { return (kind, rest[start..<end], end + mark.count) }
        }
        return nil
    }

    /// The place of the closing mark in a text that begins with the opening one.
    private static func closing(_ rest: Scalars, _ mark: [Unicode.Scalar]) -> Int? {
        let start = rest.startIndex + mark.count
        func at(_ index: Int) -> Unicode.Scalar? { index < rest.endIndex ? rest[index] : nil }
        var place = start
        while place < rest.endIndex {
            guard var end = (place..<rest.endIndex).first(where: { rest[$0...].starts(with: mark) }) else { return nil }
            if mark.count == 2 { while at(end + 2) == mark[0] { end += 1 } }
            let inner = rest[start..<max(start, end)]
            if zip(inner, inner.dropFirst()).contains(where: { $0 == "\n" && $1 == "\n" }) { return nil }
            let isDoubled = mark.count == 1 && (at(end + 1) == mark[0] || rest[end - 1] == mark[0])
            let isWord = mark[0] == "_" && at(end + mark.count)?.isLetterOrNumber == true
            if end > start, !rest[end - 1].isMarkdownSpace, !isDoubled, !isWord { return end }
            place = end + (isDoubled ? 2 : 1)
        }
        return nil
    }

    // MARK: Addresses and mentions

    /// Adds a text without marks: addresses and mentions become entities.
    private mutating func linked(_ plain: inout [Unicode.Scalar]) {
        let text = ChatEmoji.replacingNames(in: plain)[...]
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
            guard stop > head, EntityRule.isSafe(url) else {
                place = max(stop, place + 1)
                continue
            }
            self.mentioned(text[done..<place])
            let offset = self.text.count
            self.text += address
            self.entity(.link, from: offset, url: url)
            done = address.endIndex
            place = max(stop, place + 1)
        }
        self.mentioned(text[done...])
    }

    /// An address without the punctuation that ends a sentence.
    private static func withoutPunctuation(_ address: Scalars) -> Scalars {
        var end = address
        while let last = end.last, ".,:;!?)]}".unicodeScalars.contains(last) { end.removeLast() }
        // `(…)` is a part of many addresses.
        return end.endIndex < address.endIndex && address[end.endIndex] == ")" && address.contains("(") ? address[...end.endIndex] : end
    }

    private mutating func mentioned(_ text: Scalars) {
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
