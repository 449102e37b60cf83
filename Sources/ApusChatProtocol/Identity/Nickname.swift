/// Prepares shown names and titles (RFC 8266), so that they can be shown on one line and compared.
package enum Nickname {
    /// Returns the prepared form of a name; nil if it is empty, or contains a character that is not
    /// allowed.
    ///
    /// Source: RFC 8266 section 2.3, without the case mapping, which applies to comparisons only.
    /// In addition, directional controls and invisible characters are not allowed, because they can
    /// make the text around the name unreadable. U+200D, variation selectors and tag characters are
    /// allowed, because emoji contain them.
    package static func prepared(_ text: String) -> String? {
        guard let spaced = self.spaced(text) else { return nil }
        let name = UnicodeForm.compatible(spaced)
        guard !name.isEmpty, name.unicodeScalars.first != " ", name.unicodeScalars.last != " ", !self.isBlank(name) else {
            return nil
        }
        // The compatibility form of a character, such as U+00A8, can contain a space that follows
        // another space. The rules apply until the name is stable (RFC 8266 section 2.3).
        return self.spaced(name)
    }

    /// Returns the text without repeated, leading and trailing spaces; nil if it contains a
    /// character that is not allowed.
    private static func spaced(_ text: String) -> String? {
        var spaced = String.UnicodeScalarView()
        var endsInSpace = true
        for scalar in text.unicodeScalars {
            guard let kept = self.mapped(scalar) else { return nil }
            if kept == " " && endsInSpace { continue }
            endsInSpace = kept == " "
            spaced.append(kept)
        }
        if endsInSpace, !spaced.isEmpty { spaced.removeLast() }
        return String(spaced)
    }

    /// Returns the form of a prepared name for comparisons, which is in lower case.
    package static func compared(_ name: String) -> String {
        UnicodeForm.compatible(name.lowercased())
    }

    private static func mapped(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
        let properties = scalar.properties
        switch properties.generalCategory {
        case .spaceSeparator: return " "
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return nil
        // Emoji can contain U+200D and, for flags, tag characters.
        case .format: return scalar.value == 0x200D || (0xE0020...0xE007F).contains(scalar.value) ? scalar : nil
        default: return self.isInvisible(scalar) ? nil : scalar
        }
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isDefaultIgnorableCodePoint && scalar.value != 0xFE0F && scalar.value != 0xFE0E
    }

    /// Returns whether a name contains only marks, spaces and characters that show nothing. U+2800
    /// is the Braille pattern without dots.
    private static func isBlank(_ name: String) -> Bool {
        name.unicodeScalars.allSatisfy {
            switch $0.properties.generalCategory {
            case .nonspacingMark, .enclosingMark, .format, .spaceSeparator: true
            default: $0.value == 0x2800
            }
        }
    }
}

extension WireReader {
    /// Decodes a shown name or a title, and prepares it.
    package func nickname(_ name: String, maximum: Int) throws(WireError) -> String {
        try self.required(try self.nicknameIfPresent(name, maximum: maximum), name)
    }

    /// Decodes a shown name or a title that may be absent.
    ///
    /// - Parameter orEmpty: Whether the text may be empty, which removes the name.
    package func nicknameIfPresent(_ name: String, orEmpty: Bool = false, maximum: Int) throws(WireError) -> String? {
        guard let text = try self.stringIfPresent(name, maximum: maximum) else { return nil }
        if orEmpty && text.isEmpty { return text }
        guard let prepared = Nickname.prepared(text) else {
            throw WireError(
                .invalid, field: name, rule: "must contain a visible character, and no control, invisible or unassigned characters")
        }
        guard prepared.unicodeScalars.count <= maximum else {
            throw WireError(.tooLarge, field: name, rule: "must have at most \(maximum) Unicode scalars")
        }
        return prepared
    }

    /// Decodes a shown name that must be present and may be empty.
    package func nickname(_ name: String, orEmpty: Bool, maximum: Int) throws(WireError) -> String {
        try self.required(try self.nicknameIfPresent(name, orEmpty: orEmpty, maximum: maximum), name)
    }
}
