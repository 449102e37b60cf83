/// A search query: words that must all occur.
///
/// Words are separated by spaces. Several words in quotes must be consecutive. A word without
/// quotes also matches longer words that begin with it: `hel` finds "hello", but `"hel"` does not.
package struct SearchWords: Hashable, Sendable {
    /// Terms that must be consecutive.
    package struct Phrase: Hashable, Sendable {
        package var terms: [String]
        /// Whether the last term also matches longer words that begin with it.
        package var isOpen: Bool
    }

    /// The minimum length of a term that matches longer words, in characters. A shorter term
    /// matches whole words only.
    static let shortestBeginning = 3
    private static let maximumPhrases = 16
    /// The maximum number of Unicode scalars of a snippet.
    private static let snippetLength = 120
    /// The number of Unicode scalars before the first found word, unless the word is near the start
    /// of the text.
    private static let snippetLead = 30

    /// The phrases, in the order of the query; empty if the query contains no term. Phrases after
    /// the first 16 are ignored.
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

    /// Returns the ranges of all phrases in a text, in ascending order, in Unicode scalars; nil if
    /// a phrase does not occur, or if there are no phrases.
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

    /// Returns the part of a text around the first found word, on one line, and the ranges of at
    /// most 20 found words in it. Nil if a phrase does not occur, or if there are no phrases.
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
