/// Completes the word before the cursor.
extension LineEditor {
    /// Returns the characters that complete the word before the cursor: as many as all matching
    /// words share, and a space if one word matches.
    ///
    /// Letter case is ignored. A word is what follows the last white space.
    static func completion(of before: String, from words: [String]) -> String? {
        let start = String(before.suffix(while: { !$0.isWhitespace }))
        guard !start.isEmpty else { return nil }
        let matching = words.filter { $0.count >= start.count && $0.prefix(start.count).lowercased() == start.lowercased() }
        guard let first = matching.first else { return nil }
        let shared = matching.dropFirst().reduce(Substring(first)) { shared, word in
            shared.prefix(zip(shared, word).prefix { $0 == $1 }.count)
        }
        let rest = shared.dropFirst(start.count)
        return Set(matching).count == 1 ? rest + " " : String(rest)
    }
}

extension String {
    /// The characters at the end that fulfil a condition.
    fileprivate func suffix(while condition: (Character) -> Bool) -> Substring {
        var start = self.endIndex
        while start > self.startIndex, condition(self[self.index(before: start)]) { start = self.index(before: start) }
        return self[start...]
    }
}
