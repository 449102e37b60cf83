/// Decodes the character references of HTML: numbers, and the names that are common in titles.
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
        let digits = name.dropFirst()
        let code = digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
        return code.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }
}
