/// Decodes the character references of HTML: numeric references, and the names that are common in
/// titles.
enum CharacterReferences {
    private static let names: [String: String] = [
        "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "nbsp": " ", "hellip": "…", "mdash": "—", "ndash": "–", "lsquo": "‘",
        "rsquo": "’", "ldquo": "“", "rdquo": "”", "laquo": "«", "raquo": "»", "middot": "·", "bull": "•", "copy": "©", "reg": "®",
        "trade": "™", "euro": "€", "pound": "£", "deg": "°", "times": "×", "auml": "ä", "ouml": "ö", "uuml": "ü", "Auml": "Ä", "Ouml": "Ö",
        "Uuml": "Ü", "szlig": "ß", "eacute": "é", "egrave": "è", "ecirc": "ê", "agrave": "à", "aacute": "á", "acirc": "â", "ccedil": "ç",
        "ntilde": "ñ", "oacute": "ó", "iacute": "í", "uacute": "ú",
    ]

    /// The maximum length of a reference, which bounds the search for its end.
    private static let maximumLength = 12

    /// Returns the text with its character references decoded. Unknown references are not changed.
    static func decoded(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = text[...]
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            let body = rest[rest.index(after: start)...]
            let name = body.prefix(Self.maximumLength).prefix { $0 != ";" && $0 != "&" && !$0.isWhitespace }
            if name.endIndex < body.endIndex, body[name.endIndex] == ";", let character = self.character(name) {
                result += character
                rest = body[body.index(after: name.endIndex)...]
            } else {
                result += "&"
                rest = body
            }
        }
        return result + rest
    }

    private static func character(_ name: Substring) -> String? {
        guard name.first == "#" else { return self.names[String(name)] }
        var digits = name.dropFirst()
        let isHexadecimal = digits.first == "x" || digits.first == "X"
        if isHexadecimal { digits = digits.dropFirst() }
        // `UInt32.init` accepts a sign.
        guard digits.first?.isHexDigit ?? false, let code = UInt32(digits, radix: isHexadecimal ? 16 : 10) else { return nil }
        // WHATWG HTML, 13.2.5.80: the control characters of C1 are those of windows-1252.
        let scalar = Unicode.Scalar((0x80...0x9F).contains(code) ? PageText.windows1252[Int(code) - 0x80] : code)
        return scalar.map { String(Character($0)) }
    }
}
