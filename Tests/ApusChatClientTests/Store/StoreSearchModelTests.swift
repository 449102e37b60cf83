import ApusChatCore
import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Foundation
import Testing

@testable import ApusChatClient

/// The index of the store, compared with a scan of the texts, while messages are sent, edited and
/// recalled.
@Suite("Search in the store and a scan")
struct StoreSearchModelTests {
    private static let letters = ["a", "b", "A", "é", "É", "你", "好", "1", " ", " ", "\"", "*", "-", "ß", "👍", "\n", "'"]

    private func text(_ length: Int, with generator: inout SplitMix64) -> String {
        (0..<length).map { _ in Self.letters.randomElement(using: &generator) ?? "a" }.joined()
    }

    /// Returns the messages that contain all words, newest first.
    private func scan(_ texts: [Int64: String], _ query: String) -> [Int64] {
        let words = query.lowercased().split(whereSeparator: \.isWhitespace)
        guard !words.isEmpty else { return [] }
        return texts.filter { _, text in words.allSatisfy { text.lowercased().contains($0) } }.keys.sorted(by: >)
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func theIndexMatchesTheTexts(seed: UInt64) throws {
        var generator = SplitMix64(state: seed &* 131)
        let store = try ChatStore(path: ":memory:")
        var texts: [Int64: String] = [:]
        var seq: Int64 = 0
        func apply(_ event: ChatEvent) throws { _ = try store.apply([.events([event])], of: Value.alice, asOf: nil) }
        for step in 0..<150 {
            seq += 1
            let text = self.text(Int.random(in: 1...12, using: &generator), with: &generator) + "x"
            let target = texts.keys.sorted().randomElement(using: &generator)
            switch (Int.random(in: 0..<6, using: &generator), target) {
            case (0, let target?):
                try apply(Value.change(.edit, seq, of: target, ["body": ["text": .string(text)]]))
                texts[target] = text
            case (1, let target?):
                try apply(Value.change(.recall, seq, of: target))
                texts[target] = nil
            default:
                try apply(Value.text(seq, text))
                texts[seq] = text
            }
            guard step % 5 == 0 else { continue }
            for _ in 0..<8 {
                let words = (0..<Int.random(in: 1...2, using: &generator)).map { _ in
                    self.text(Int.random(in: 1...4, using: &generator), with: &generator)
                }
                let query = words.joined(separator: " ")
                let found = try store.search(StoreQuery(text: query, limit: 1_000)).filter { texts[$0.seq] != nil }.map(\.seq)
                #expect(found == self.scan(texts, query), "\(query.debugDescription)")
            }
        }
        // Nothing of an earlier text is left in the index.
        for seq in texts.keys { try apply(Value.change(.recall, 1_000 + seq, of: seq)) }
        for letter in ["a", "b", "é", "你", "好", "1", "x", "aa"] { #expect(try store.search(StoreQuery(text: letter)).isEmpty, "\(letter)") }
    }

    /// A query is a text, never an expression of SQLite, and never an error.
    @Test(arguments: [
        "\"", "\"\"", "\"a", "a\"b", "a OR b", "NOT a", "a AND", "NEAR(a b)", "text:a", "a*", "^a", "{a}", "(", ")", "a\u{0}b", "\u{0}",
        "\u{1}", "\u{1}\u{1}", "a\u{1}", "%", "_", "'; DROP TABLE event; --", "\\", "\u{10FFFF}", "\u{FFFF}ab", "👨‍👩‍👧", "e\u{301}", "\u{301}",
        "\u{202E}abc", String(repeating: "a", count: 10_000), String(repeating: "a ", count: 500), String(repeating: "\"", count: 999),
    ])
    func aQueryIsPlainText(query: String) throws {
        let store = try ChatStore(path: ":memory:")
        let texts = ["a and b", "say \"a\" or b*", "100% of a_b", "(x) {y} ^z", "back\\slash", "👨‍👩‍👧 e\u{301}t", "'; DROP TABLE event; --"]
        _ = try store.apply([.events(texts.enumerated().map { Value.text(Int64($0.offset + 1), $0.element) })], of: Value.alice)
        let found = try store.search(StoreQuery(text: query)).compactMap { $0.body["text"]?.stringValue }
        for text in found {
            for word in query.split(whereSeparator: { $0.isWhitespace || $0 == "\0" }) {
                let scalars = Array(word.lowercased().unicodeScalars), all = Array(text.lowercased().unicodeScalars)
                let isInside = all.indices.contains { all[$0...].starts(with: scalars) }
                #expect(isInside, "\(query.debugDescription) in \(text.debugDescription)")
            }
        }
        #expect(try store.search(StoreQuery(text: "back")).count == 1, "the store is whole")
    }

    /// Each query that is a part of a text finds it, also one with characters of the expressions.
    @Test func everyPartOfATextFindsIt() throws {
        let store = try ChatStore(path: ":memory:")
        let text = "Say \"no\" (or*NOT) to: a-b_c'd \\ 100% 你好 é👍"
        _ = try store.apply([.events([Value.text(1, text)])], of: Value.alice)
        let scalars = Array(text.unicodeScalars)
        for start in scalars.indices {
            for end in start + 1...min(start + 6, scalars.count) {
                var part = String.UnicodeScalarView()
                part.append(contentsOf: scalars[start..<end])
                guard part.contains(where: { !$0.properties.isWhitespace }) else { continue }
                #expect(try store.search(StoreQuery(text: String(part))).count == 1, "\(String(part).debugDescription)")
            }
        }
    }

    // MARK: Snippets

    @Test func rangesAreTheWords() {
        var generator = SplitMix64(state: 17)
        for _ in 0..<2_000 {
            let text = self.text(Int.random(in: 1...120, using: &generator), with: &generator)
            let words = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                self.text(Int.random(in: 1...3, using: &generator), with: &generator).filter { !$0.isWhitespace }
            }
            let snippet = ChatStore.snippet(text, words: words)
            #expect(!snippet.contains(where: \.isNewline) && snippet.count <= 82, "\(text.debugDescription)")
            let ranges = ChatStore.ranges(of: words, in: snippet)
            let scalars = Array(snippet.unicodeScalars)
            var end: Int64 = 0
            for range in ranges {
                #expect(range.offset >= end && range.length > 0 && range.offset + range.length <= Int64(scalars.count))
                var marked = String.UnicodeScalarView()
                marked.append(contentsOf: scalars[Int(range.offset)..<Int(range.offset + range.length)])
                #expect(words.contains { $0.caseInsensitiveCompare(String(marked)) == .orderedSame }, "\(String(marked)) in \(snippet)")
                end = range.offset + range.length
            }
            #expect(ranges.count <= 20)
        }
    }
}
