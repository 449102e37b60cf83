import Foundation

/// Prepares and enforces account names (RFC 8265 section 3.3).
package enum UserNameRule {
    /// The maximum length of a prepared name, in Unicode scalars.
    package static let maximumLength = 32

    /// Returns the prepared form of a name; nil if the text is not a valid name.
    package static func prepared(_ text: String) -> String? {
        // The preparation can shorten a text, but never to less than an eighth of its bytes.
        guard !text.isEmpty, text.utf8.count <= self.maximumLength * 32 else { return nil }
        if let name = self.preparedASCII(text) { return name }
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        if self.isPreparedIdeographs(text) { return text }
        // The steps are those of RFC 8265 section 3.3.3, in that order: width, case, normalization,
        // directionality.
        var mapped = ""
        for scalar in text.unicodeScalars {
            for wide in WidthMapping.mapped(scalar) { mapped.append(wide.properties.lowercaseMapping) }
        }
        let name = UnicodeForm.composed(mapped)
        let scalars = Array(name.unicodeScalars)
        guard (1...self.maximumLength).contains(scalars.count), scalars.allSatisfy(self.isAllowed), self.hasValidEnds(scalars),
            BidiRule.accepts(scalars), ScriptMix.accepts(scalars)
        else { return nil }
        // The preparation must be idempotent; otherwise a name would have two forms.
        guard name.unicodeScalars.elementsEqual(UnicodeForm.composed(name.lowercased()).unicodeScalars) else { return nil }
        return name
    }

    /// Prepares ASCII text without Unicode data, which is the common case. Nil if the text is not
    /// ASCII or not valid.
    private static func preparedASCII(_ text: String) -> String? {
        var hasUpperCase = false
        var count = 0
        var last: UInt8 = 0
        for byte in text.utf8 {
            switch byte {
            case 0x61...0x7A, 0x30...0x39: break
            case 0x41...0x5A: hasUpperCase = true
            case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                guard count > 0 else { return nil }
            default: return nil
            }
            last = byte
            count += 1
        }
        guard count <= self.maximumLength, !self.isPunctuation(UInt32(last)) else { return nil }
        return hasUpperCase ? text.lowercased() : text
    }

    /// Returns whether a text contains only Han characters that no mapping changes, ASCII digits
    /// and lower-case ASCII letters, and is not too long.
    private static func isPreparedIdeographs(_ text: String) -> Bool {
        var count = 0
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x4E00...0x9FFF, 0x61...0x7A, 0x30...0x39: count += 1
            default: return false
            }
        }
        return count <= self.maximumLength
    }

    private static func isPunctuation(_ value: UInt32) -> Bool { value == 0x2E || value == 0x5F || value == 0x2D }

    private static func hasValidEnds(_ scalars: [Unicode.Scalar]) -> Bool {
        guard let first = scalars.first, let last = scalars.last, !self.isPunctuation(first.value), !self.isPunctuation(last.value) else {
            return false
        }
        // A combining mark at the start would combine with the `@` before a name.
        return !self.isMark(first)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }

    /// Returns whether the IdentifierClass (RFC 8264 section 4.2) contains the scalar. Excludes
    /// most ASCII punctuation, and contextual characters other than Arabic-Indic digits.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value) || self.isPunctuation(scalar.value)
        }
        // The exceptions of RFC 8264 section 9.6: characters that are allowed or not allowed
        // regardless of their category.
        switch scalar.value {
        case 0x00DF, 0x03C2, 0x06FD, 0x06FE, 0x0F0B, 0x3007: return true
        case 0x0640, 0x07FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: return false
        case 0x0660...0x0669, 0x06F0...0x06F9: return true
        default: break
        }
        guard !scalar.properties.isDefaultIgnorableCodePoint, !self.isOldHangul(scalar), !self.hasCompatibilityForm(scalar) else {
            return false
        }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .otherLetter, .modifierLetter, .decimalNumber, .nonspacingMark, .spacingMark: return true
        default: return false
        }
    }

    private static func isOldHangul(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB: true
        default: false
        }
    }

    /// Returns whether the scalar has a compatibility form (HasCompat, RFC 8264 section 9.17).
    private static func hasCompatibilityForm(_ scalar: Unicode.Scalar) -> Bool {
        let text = String(scalar)
        return !text.precomposedStringWithCompatibilityMapping.unicodeScalars.elementsEqual(text.unicodeScalars)
    }
}

/// Maps fullwidth and halfwidth characters to their usual forms (RFC 8264 section 5.2.1).
package enum WidthMapping {
    /// Returns the scalars to which a scalar is mapped.
    package static func mapped(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        switch scalar.value {
        case 0x3000, 0xFF01...0xFFEE: Array(String(scalar).precomposedStringWithCompatibilityMapping.unicodeScalars)
        default: [scalar]
        }
    }
}
