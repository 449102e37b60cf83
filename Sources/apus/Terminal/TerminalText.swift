import ApusBytes

/// Prepares text for one line of a terminal: removes control characters, and measures and limits
/// its width.
enum TerminalText {
    /// Returns an untrusted name with control characters, line feeds and bidirectional controls
    /// replaced by U+FFFD.
    static func harmless(_ text: String) -> String {
        PeerText.visible(text)
    }

    /// Returns the number of columns of a text.
    static func columns(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + self.columns($1) } }

    /// Returns the number of columns of a character: 0, 1 or 2, and 2 for an emoji sequence. Some
    /// terminals use another width.
    static func columns(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        if scalars.contains(where: { $0.properties.isEmojiPresentation || $0 == "\u{fe0f}" }) { return 2 }
        return min(2, scalars.reduce(0) { $0 + self.columns($1) })
    }

    /// Returns the number of columns of a scalar, an approximation of Unicode's East Asian Width
    /// (UAX #11).
    private static func columns(_ scalar: Unicode.Scalar) -> Int {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .control: return 0
        default: break
        }
        return switch scalar.value {
        case 0x1160...0x11FF: 0  // vowels and finals of a Hangul syllable
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18CFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }

    /// Returns the text with its middle replaced by an ellipsis if it is wider than `width`,
    /// because the end of a file name contains its extension.
    static func shortened(_ text: String, to width: Int) -> String {
        guard self.columns(text) > width else { return text }
        guard width > 1 else { return width == 1 ? "…" : "" }
        let end = self.suffix(text, (width - 1) / 2)
        return self.prefix(text, width - 1 - self.columns(end)) + "…" + end
    }

    private static func prefix(_ text: String, _ width: Int) -> String {
        var result = ""
        var left = width
        for character in text {
            left -= self.columns(String(character))
            guard left >= 0 else { break }
            result.append(character)
        }
        return result
    }

    private static func suffix(_ text: String, _ width: Int) -> String {
        String(self.prefix(String(text.reversed()), width).reversed())
    }

    static func padded(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - self.columns(text)))
    }
}
