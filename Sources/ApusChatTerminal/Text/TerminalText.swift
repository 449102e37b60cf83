/// Measures and formats text in the cells of a terminal.
package enum TerminalText {
    /// Returns the number of cells of a character: 0 for marks and controls, 2 for wide characters
    /// and emoji, 1 for others.
    ///
    /// Source: Unicode Standard Annex 11 (East Asian Width), the ranges W and F, and the emoji
    /// presentation of UTS 51.
    package static func width(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if first.isASCII, character.unicodeScalars.count == 1 { return first.value >= 0x20 && first.value != 0x7F ? 1 : 0 }
        // A variation selector or a joiner combines characters to one emoji. Joiners can also occur
        // between letters.
        if character.unicodeScalars.count > 1 {
            // Digits, `#` and `*` are emoji with a variation selector only.
            let isJoined = character.unicodeScalars.contains {
                $0.value == 0xFE0F || $0.value == 0x200D && !first.isASCII || $0.value == 0x20E3
            }
            if isJoined, first.properties.isEmoji { return 2 }
            if (0x1F1E6...0x1F1FF).contains(first.value) { return 2 }
        }
        if character.unicodeScalars.contains(where: { $0.value == 0xFE0E }) { return 1 }
        return min(2, character.unicodeScalars.reduce(0) { $0 + self.width($1) })
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .control, .format, .nonspacingMark, .enclosingMark, .surrogate, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.value {
        case 0x1160...0x11FF: return 0  // vowels and finals of a Hangul syllable
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF,
            0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x2FFFD, 0x30000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// Returns the number of cells of a text.
    package static func width(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + self.width($1) } }

    /// Removes characters that would move the cursor, or change colours or the text direction. Line
    /// ends and tabs become spaces.
    package static func plain(_ text: some StringProtocol) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x09, 0x0A, 0x0D, 0x2028, 0x2029: plain.append(" ")
            case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: break
            case 0x00..<0x20, 0x7F..<0xA0: break
            default: plain.append(scalar)
            }
        }
        return String(plain)
    }

    /// Truncates or pads a text to a number of cells.
    package static func fitted(_ text: String, to width: Int) -> String {
        guard width > 0 else { return "" }
        let total = self.width(text)
        if total <= width { return text + String(repeating: " ", count: width - total) }
        var fitted = ""
        var used = 0
        for character in text {
            let next = self.width(character)
            if used + next > width - 1 { break }
            fitted.append(character)
            used += next
        }
        return fitted + "…" + String(repeating: " ", count: width - 1 - used)
    }

    /// Pads a text to a number of cells.
    package static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - self.width(text)))
    }

    /// Returns the text with its middle replaced by an ellipsis if it is wider than `width`. The
    /// end of a file name remains, because it contains the extension.
    package static func shortened(_ text: String, to width: Int) -> String {
        guard self.width(text) > width else { return text }
        guard width > 1 else { return width == 1 ? "…" : "" }
        let end = self.prefix(text.reversed(), (width - 1) / 2).reversed()
        let used = end.reduce(0) { $0 + self.width($1) }
        return String(self.prefix(text, width - 1 - used)) + "…" + String(end)
    }

    private static func prefix(_ characters: some Sequence<Character>, _ width: Int) -> [Character] {
        var left = width
        return Array(
            characters.prefix { character in
                left -= self.width(character)
                return left >= 0
            })
    }

    // MARK: Lines

    /// Wraps a text into lines of at most `width` cells. Lines end at spaces, after wide
    /// characters, and within words that are longer than a line.
    package static func wrapped(_ text: String, to width: Int) -> [String] {
        text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
            let characters = Array(self.plain(line))
            return self.lines(of: characters, width: width).map { String(characters[$0]) }
        }
    }

    /// Returns the ranges of the lines of one paragraph. The ranges exclude spaces at the end of a
    /// line.
    package static func lines(of text: [Character], width: Int) -> [Range<Int>] {
        let width = max(2, width)
        var lines: [Range<Int>] = []
        var start = 0
        var used = 0
        /// The index after the last character after which a line can end.
        var lastBreak = 0
        for (index, character) in text.enumerated() {
            let next = self.width(character)
            if used + next > width {
                let cut = character != " " && lastBreak > start && next < 2 ? lastBreak : index
                var end = cut
                while end > start, text[end - 1] == " " { end -= 1 }
                lines.append(start..<end)
                if character == " " {
                    (start, used, lastBreak) = (index + 1, 0, index + 1)
                    continue
                }
                start = cut
                used = text[cut..<index].reduce(0) { $0 + self.width($1) }
                lastBreak = cut
            }
            used += next
            if character == " " || next == 2 { lastBreak = index + 1 }
        }
        lines.append(min(start, text.count)..<text.count)
        return lines
    }
}
