import ApusChatProtocol

/// Converts a text with entities to Markdown, as `Web/js/text/source.js` does.
struct MarkdownSource {
    /// An entity and the form of its marks.
    private struct Part {
        var entity: TextEntity
        /// Whether an italic text has the marks `_`, or a link a title that is its address.
        var isOther = false

        var start: Int { Int(self.entity.offset) }
        var end: Int { Int(self.entity.offset + self.entity.length) }
        var isBlock: Bool { [.quote, .list].contains(self.entity.kind) }
        /// Whether the content contains neither marks nor escapes.
        var isLiteral: Bool { [.code, .pre, .link, .mention, .all].contains(self.entity.kind) }
        var rank: Int { self.isBlock ? 0 : self.isLiteral ? 2 : 1 }

        func touches(_ other: Part) -> Bool {
            [self.start, self.end].contains { $0 == other.start || $0 == other.end }
        }
    }

    private let scalars: [Unicode.Scalar]
    private let parts: [Part]

    /// The characters of the text that a backslash precedes. The first source without a loss is
    /// used.
    private static let levels: [Set<Unicode.Scalar>] = [
        [], ["\\", "*", "_", "~", "|", "`", "["], ["\\", "*", "_", "~", "|", "`", "[", ":", "："],
    ]
    private static let marks: [TextEntityKind: String] = [
        .bold: "**", .italic: "*", .underline: "__", .strike: "~~", .spoiler: "||", .code: "`",
    ]

    /// Omits the white space around the text, as the parser does, and entities of other kinds.
    init(_ text: String, _ entities: [TextEntity]) {
        let all = Array(text.unicodeScalars)
        let first = all.firstIndex { !$0.isMarkdownSpace } ?? all.endIndex
        let end = (all.lastIndex { !$0.isMarkdownSpace } ?? -1) + 1
        var scalars: [Unicode.Scalar] = []
        // The place of each scalar in the trimmed text.
        var places: [Int] = []
        for (place, scalar) in all.enumerated() {
            places.append(scalars.count)
            guard place >= first, place < end, scalar != "\r" || all[place + 1] != "\n" else { continue }
            scalars.append(scalar == "\r" ? "\n" : scalar)
        }
        places.append(scalars.count)
        self.scalars = scalars
        self.parts = entities.compactMap { entity in
            guard ![.hashtag, .unknown].contains(entity.kind), entity.offset >= 0, entity.length > 0,
                entity.length <= Int64(all.count), entity.offset <= Int64(all.count) - entity.length
            else { return nil }
            var kept = entity
            kept.offset = Int64(places[Int(entity.offset)])
            kept.length = Int64(places[Int(entity.offset + entity.length)]) - kept.offset
            if kept.language?.isEmpty == true { kept.language = nil }
            return kept.length > 0 ? Part(entity: kept) : nil
        }
    }

    /// The text without the white space around it, which the parser omits.
    var text: String { Self.text(self.scalars) }

    /// The Markdown. Entities that it cannot express are joined with adjacent ones or omitted, so
    /// that the text is kept.
    var markdown: String {
        if let exact = self.exact(self.parts, Self.levels) { return exact }
        let kept = self.expressible()
        return self.exact(kept, Self.levels) ?? Self.text(self.source(kept, escapes: Self.levels[2]))
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    private func content(_ entity: TextEntity) -> String {
        Self.text(self.scalars[Int(entity.offset)..<Int(entity.offset + entity.length)])
    }

    /// Returns Markdown that parses to the text and to these entities, without others; nil if no
    /// Markdown does.
    private func exact(_ parts: [Part], _ levels: [Set<Unicode.Scalar>]) -> String? {
        var mentions: [String: UserName] = [:]
        var all: Set<String> = ["all"]
        for part in parts where part.entity.kind == .mention || part.entity.kind == .all {
            let name = self.content(part.entity).unicodeScalars.dropFirst()
            let lower = Self.text(name).lowercased()
            if part.entity.kind == .all { all.insert(lower) } else { mentions[lower] = part.entity.user }
        }
        let wanted = Set(parts.map(\.entity))
        for escapes in levels {
            // A backslash of the text would escape the one before `@`.
            if escapes.isEmpty, zip(self.scalars, self.scalars.dropFirst()).contains(where: { $0 == ("\\", "@") }) { continue }
            let source = Self.text(self.source(parts, escapes: escapes))
            let parsed = ChatMarkdown.parse(source, mentions: mentions, all: all)
            guard parsed.text.unicodeScalars.elementsEqual(self.scalars) else { continue }
            // An address of the text becomes a link, as in a new message.
            let found = parsed.entities.filter { $0.kind != .link || wanted.contains($0) || $0.url != self.content($0) }
            if found.count == parts.count, Set(found) == wanted { return source }
        }
        return nil
    }

    /// Returns the entities with one in place of two formats of the same kind without a text
    /// between them.
    private func joined() -> [Part] {
        var found: [Part] = []
        for part in Self.ordered(self.parts) {
            let before = found.firstIndex { other in
                guard other.entity.kind == part.entity.kind, !part.isLiteral else { return false }
                let isNextLine = part.isBlock && other.end + 1 == part.start && self.scalars[other.end] == "\n"
                return other.end == part.start || isNextLine
            }
            if let before { found[before].entity.length = Int64(part.end - found[before].start) } else { found.append(part) }
        }
        return found
    }

    /// Returns the entities that Markdown can express together. Of two that exclude each other,
    /// the first is kept.
    private func expressible() -> [Part] {
        var kept: [Part] = []
        var rest = [Self.ordered(self.joined())[...]]
        while let parts = rest.popLast() {
            guard let part = parts.first else { continue }
            var variants = [kept + parts]
            if parts.count == 1 {
                // Beside another mark, only the other form may be possible.
                let other = kept.map { Part(entity: $0.entity, isOther: $0.isOther || $0.touches(part)) }
                variants += [kept + [Part(entity: part.entity, isOther: true)], other + [part]]
            }
            if let found = variants.first(where: { self.exact($0, Self.levels.suffix(1)) != nil }) {
                kept = found
            } else if parts.count > 1 {
                let middle = parts.startIndex + (parts.count + 1) / 2
                rest += [parts[middle...], parts[..<middle]]
            }
        }
        return kept
    }

    /// Returns entities in the order in which their marks begin: blocks, then outer formats, then
    /// code and links.
    private static func ordered(_ parts: [Part]) -> [Part] {
        // Of formats with the same range, the parser returns the inner one first.
        let reversed = parts.reversed().enumerated().sorted { left, right in
            let (one, other) = (left.element, right.element)
            if one.start != other.start { return one.start < other.start }
            if one.end != other.end { return one.end > other.end }
            return one.rank == other.rank ? left.offset < right.offset : one.rank < other.rank
        }
        return reversed.map(\.element)
    }

    // MARK: Marks

    private func isLineStart(_ place: Int) -> Bool { place == 0 || self.scalars[place - 1] == "\n" }

    /// Returns the marks before and after an entity; nil for one without marks.
    private func marks(of part: Part) -> (begin: String, end: String)? {
        switch part.entity.kind {
        case .bold, .italic, .underline, .strike, .spoiler, .code:
            let mark = part.entity.kind == .italic && part.isOther ? "_" : Self.marks[part.entity.kind] ?? ""
            return (mark, mark)
        case .pre: return ("```\(part.entity.language ?? "")\n", "\n```")
        case .link:
            guard let url = part.entity.url, part.isOther || self.content(part.entity) != url else { return nil }
            return ("[", "](\(url))")
        case .quote, .list, .mention, .all, .hashtag, .unknown: return nil
        }
    }

    /// Returns the text with the marks of the entities.
    ///
    /// A backslash precedes the beginning of a line that would begin a block, and `@` before a name
    /// that is not mentioned: after an edit, it must not notify the user of the name.
    ///
    /// - Parameter escapes: The other characters of the text that a backslash precedes, except in
    ///   code, addresses and mentions, where it would be a part of the content.
    private func source(_ parts: [Part], escapes: Set<Unicode.Scalar>) -> [Unicode.Scalar] {
        let scalars = self.scalars
        var begins: [Int: String] = [:]
        var ends: [Int: String] = [:]
        // The beginnings of lines in lists.
        var items: Set<Int> = []
        let ordered = Self.ordered(parts)
        for part in ordered {
            if let mark = self.marks(of: part)?.begin { begins[part.start, default: ""] += mark }
            guard part.isBlock else { continue }
            for place in part.start..<part.end where place == part.start || self.isLineStart(place) {
                if part.entity.kind == .quote { begins[place, default: ""] += "> " } else { items.insert(place) }
            }
        }
        for part in ordered.reversed() {
            if let mark = self.marks(of: part)?.end { ends[part.end, default: ""] += mark }
        }
        func isBoundary(_ place: Int) -> Bool { begins[place] != nil || ends[place] != nil }
        let literal = self.literal(parts, escapes: escapes, isBoundary)

        var source: [Unicode.Scalar] = []
        // The place of the character that begins a block and gets a backslash.
        var escaped: Int?
        for (place, scalar) in scalars.enumerated() {
            if self.isLineStart(place), !items.contains(place), let mark = MarkdownParser.blockMark(scalars[place...]) {
                // A mark of an entity in the beginning of the line prevents the block.
                let isPrevented = (place..<place + mark).contains { isBoundary($0) || literal.contains($0) }
                if !isPrevented { escaped = place + mark - 2 }
            }
            // A word before `@` makes an address of it, unless a mark stands between them.
            let beginsName =
                scalar == "@" && place + 1 < scalars.count && scalars[place + 1].isNameCharacter
                && (place == 0 || !scalars[place - 1].isLatinOrNumber || isBoundary(place))
            let beginsQuote = scalar == ">" && !escapes.isEmpty && self.isLineStart(place)
            let isEscaped = place == escaped || beginsName || beginsQuote || escapes.contains(scalar)
            if let mark = ends[place] { source += mark.unicodeScalars }
            if let mark = begins[place] { source += mark.unicodeScalars }
            if isEscaped, !literal.contains(place) { source.append("\\") }
            source.append(scalar == "•" && items.contains(place) ? "-" : scalar)
        }
        if let mark = ends[scalars.count] { source += mark.unicodeScalars }
        return source
    }

    /// Returns the places in code, addresses and mentions, in which a backslash is not an escape.
    private func literal(_ parts: [Part], escapes: Set<Unicode.Scalar>, _ isBoundary: (Int) -> Bool) -> Set<Int> {
        var literal: Set<Int> = []
        for part in parts where part.isLiteral { literal.formUnion(part.start..<part.end) }
        var place = 0
        while place < self.scalars.count {
            let before = place == 0 || isBoundary(place) ? " " : self.scalars[place - 1]
            guard self.scalars[place...].hasAddress, !before.isWordCharacter || escapes.contains(before) else {
                place += 1
                continue
            }
            repeat {
                literal.insert(place)
                place += 1
            } while place < self.scalars.count && !self.scalars[place].endsAddress && !isBoundary(place)
        }
        return literal
    }
}
