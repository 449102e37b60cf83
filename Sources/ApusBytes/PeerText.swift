/// Sanitizes text from the peer for error messages, logs and terminals.
package enum PeerText {
    /// The maximum number of Unicode scalars that are kept.
    private static let maximumScalars = 200

    /// Returns the first 200 scalars of the text on one line, with a space for every scalar that is
    /// not harmless.
    package static func clean(_ text: String) -> String {
        String(text.unicodeScalars.prefix(Self.maximumScalars).map { Self.isHarmless($0) ? Character($0) : " " })
    }

    /// Returns the text for a terminal, with every scalar that is not harmless replaced by U+FFFD.
    ///
    /// - Parameter lineFeed: The replacement of a line feed; U+FFFD by default.
    package static func visible(_ text: some StringProtocol, lineFeed: String = "\u{fffd}") -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "\n" {
                result.append(contentsOf: lineFeed.unicodeScalars)
            } else {
                result.append(Self.isHarmless(scalar) ? scalar : "\u{fffd}")
            }
        }
        return String(result)
    }

    /// Returns whether a scalar is not a control character, a line separator, a byte order mark,
    /// U+FFFE or U+FFFF, and does not change the text direction.
    package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0: false  // C0 and C1: NUL, line ends, escape codes of terminals
        case 0x2028, 0x2029: false  // line ends
        case 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0x061C: false  // text direction: could display `gpj.exe` as `exe.jpg`
        case 0xFFFE, 0xFFFF, 0xFEFF: false
        default: true
        }
    }
}
