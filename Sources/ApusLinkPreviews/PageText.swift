/// Decodes the bytes of a page to text.
enum PageText {
    /// Decodes the bytes of a page: UTF-8, UTF-16 with a byte order mark, or windows-1252. Returns
    /// `nil` for bytes that are not valid UTF-8, and for characters outside of ASCII in another
    /// encoding, because wrong text must not be shown.
    ///
    /// - Parameter contentType: The field `Content-Type` of the response.
    static func decode(_ bytes: [UInt8], contentType: String?) -> String? {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return self.utf8(bytes.dropFirst(3)) }
        if bytes.starts(with: [0xFF, 0xFE]) { return self.utf16(bytes.dropFirst(2), isBig: false) }
        if bytes.starts(with: [0xFE, 0xFF]) { return self.utf16(bytes.dropFirst(2), isBig: true) }
        let name = contentType.flatMap(self.charset) ?? self.charset(String(decoding: bytes.prefix(1_024), as: UTF8.self))
        switch name {
        case nil, "utf-8", "utf8": return self.utf8(bytes[...])
        // Browsers decode all of these as windows-1252 (WHATWG Encoding Standard, 4.2).
        case "iso-8859-1", "latin1", "us-ascii", "ascii", "windows-1252", "cp1252": return self.windows1252(bytes)
        default: return bytes.allSatisfy { $0 < 0x80 } ? self.utf8(bytes[...]) : nil
        }
    }

    /// Returns the value of the first `charset=` in a field or in a `meta` element.
    private static func charset(_ text: String) -> String? {
        var rest = text.lowercased()[...]
        while let range = rest.firstRange(of: "charset") {
            rest = rest[range.upperBound...].drop { $0.isWhitespace }
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst().drop { $0.isWhitespace || $0 == "\"" || $0 == "'" }
            let name = rest.prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "-_:.".contains($0)) }
            return name.isEmpty ? nil : String(name)
        }
        return nil
    }

    /// Decodes UTF-8. A character that is truncated at the end is removed.
    private static func utf8(_ bytes: ArraySlice<UInt8>) -> String? {
        for cut in 0...3 where cut <= bytes.count {
            // The decoder would replace an invalid sequence, so the result is compared with the
            // input. `String(validating:)` requires macOS 15.
            let text = String(decoding: bytes.dropLast(cut), as: UTF8.self)
            if text.utf8.elementsEqual(bytes.dropLast(cut)) { return text }
        }
        return nil
    }

    private static func utf16(_ bytes: ArraySlice<UInt8>, isBig: Bool) -> String? {
        var units: [UInt16] = []
        var index = bytes.startIndex
        while index + 1 < bytes.endIndex {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isBig ? first << 8 | second : second << 8 | first)
            index += 2
        }
        return String(decoding: units, as: UTF16.self)
    }

    private static func windows1252(_ bytes: [UInt8]) -> String {
        var scalars = String.UnicodeScalarView()
        for byte in bytes {
            let code = (0x80...0x9F).contains(byte) ? self.windows1252[Int(byte) - 0x80] : UInt32(byte)
            if let scalar = Unicode.Scalar(code) { scalars.append(scalar) }
        }
        return String(scalars)
    }

    /// The characters of the bytes 0x80 to 0x9F in windows-1252.
    static let windows1252: [UInt32] = [
        0x20AC, 0x81, 0x201A, 0x192, 0x201E, 0x2026, 0x2020, 0x2021, 0x2C6, 0x2030, 0x160, 0x2039, 0x152, 0x8D, 0x17D, 0x8F,
        0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x2DC, 0x2122, 0x161, 0x203A, 0x153, 0x9D, 0x17E, 0x178,
    ]
}

extension String {
    /// Returns the text with its character references decoded, white space as single spaces, and
    /// without control characters, truncated to at most `limit` scalars; `nil` if nothing remains.
    func shown(limit: Int) -> String? {
        var scalars: [Unicode.Scalar] = []
        var isSpaced = false
        for scalar in CharacterReferences.decoded(self).unicodeScalars {
            if scalar.properties.isWhitespace {
                isSpaced = !scalars.isEmpty
                continue
            }
            guard !scalar.isInvisibleControl else { continue }
            if isSpaced { scalars.append(" ") }
            isSpaced = false
            scalars.append(scalar)
            guard scalars.count > limit else { continue }
            scalars.removeLast(scalars.count - limit + 1)
            if scalars.last == " " { scalars.removeLast() }
            scalars.append("…")
            break
        }
        return scalars.isEmpty ? nil : String(String.UnicodeScalarView(scalars))
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is a control character, changes the text direction (UAX #9), is for
    /// private use, or is unassigned.
    fileprivate var isInvisibleControl: Bool {
        switch self.properties.generalCategory {
        case .control, .surrogate, .privateUse, .unassigned: true
        case .format:
            (0x202A...0x202E).contains(self.value) || (0x2066...0x2069).contains(self.value)
                || [0x200E, 0x200F, 0xFEFF].contains(self.value)
        default: false
        }
    }
}
