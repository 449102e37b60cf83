/// What a search looks for: words that must all occur.
///
/// Words are separated by spaces. Several words in quotes must follow each other. The end of a word
/// is open: `hel` finds "hello", but `"hel"` does not.
package struct SearchWords: Hashable, Sendable {
    /// Terms that must follow each other.
    package struct Phrase: Hashable, Sendable {
        package var terms: [String]
        /// Whether the last term is the beginning of a word.
        package var isOpen: Bool
    }

    /// The shortest beginning of a word that is looked for, in characters. Shorter ones are words.
    static let shortestBeginning = 3
    private static let maximumPhrases = 16
    /// The number of characters of a snippet, and of those before the first word.
    private static let snippetLength = 120
    private static let snippetLead = 30

    /// In the order of the search; none if it has nothing to look for.
    package var phrases: [Phrase] = []

    package init(_ text: String) {
        var isQuoted = false
        for (index, part) in text.split(separator: "\"", omittingEmptySubsequences: false).enumerated() {
            isQuoted = index % 2 == 1
            let pieces = isQuoted ? [part] : part.split(whereSeparator: \.isWhitespace)
            for piece in pieces { self.add(String(piece), isQuoted: isQuoted) }
        }
    }

    private mutating func add(_ piece: String, isQuoted: Bool) {
        let tokens = SearchText.tokens(of: piece)
        guard let last = tokens.last, self.phrases.count < Self.maximumPhrases else { return }
        let isAtEnd = last.range.upperBound == piece.unicodeScalars.count
        let isOpen = !isQuoted && last.isWord && isAtEnd && last.term.unicodeScalars.count >= Self.shortestBeginning
        self.phrases.append(Phrase(terms: tokens.map(\.term), isOpen: isOpen))
    }

    /// Returns the places of all words in a text, as Unicode scalars in their order. Nil unless
    /// every word occurs.
    package func matches(in text: String) -> [Range<Int>]? {
        let tokens = SearchText.tokens(of: text)
        var ranges: [Range<Int>] = []
        for phrase in self.phrases {
            let found = phrase.matches(in: tokens)
            guard !found.isEmpty else { return nil }
            ranges += found
        }
        return self.phrases.isEmpty ? nil : ranges.sorted { $0.lowerBound < $1.lowerBound }
    }

    /// Returns the part of a text around the first word found, on one line, and the words in it.
    /// Nil unless every word occurs.
    package func snippet(of text: String) -> (text: String, ranges: [TextRange])? {
        guard let matches = self.matches(in: text), let first = matches.first else { return nil }
        let scalars = Array(text.unicodeScalars)
        let start = first.lowerBound < Self.snippetLead * 2 ? 0 : first.lowerBound - Self.snippetLead
        let end = min(scalars.count, start + Self.snippetLength)
        var line = String.UnicodeScalarView()
        for scalar in scalars[start..<end] { line.append(scalar.properties.isWhitespace ? " " : scalar) }
        var ranges: [TextRange] = []
        var next = start
        for match in matches where match.lowerBound >= next && match.upperBound <= end && ranges.count < 20 {
            ranges.append(TextRange(offset: Int64(match.lowerBound - start), length: Int64(match.count)))
            next = match.upperBound
        }
        return (String(line), ranges)
    }
}

extension SearchWords.Phrase {
    fileprivate func matches(in tokens: [SearchText.Token]) -> [Range<Int>] {
        guard !self.terms.isEmpty, tokens.count >= self.terms.count else { return [] }
        return (0...tokens.count - self.terms.count).compactMap { start in
            for (offset, term) in self.terms.enumerated() {
                let token = tokens[start + offset].term
                let isLast = offset == self.terms.count - 1
                guard isLast && self.isOpen ? token.hasPrefix(term) : token == term else { return nil }
            }
            return tokens[start].range.lowerBound..<tokens[start + self.terms.count - 1].range.upperBound
        }
    }
}
