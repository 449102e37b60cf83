/// Checks the Bidi Rule (RFC 5893 section 2) for the characters that an account name can contain.
///
/// The bidirectional classes are those of the ranges that Unicode reserves for right-to-left
/// scripts, with the exceptions that a name can contain.
enum BidiRule {
    private enum Class {
        case left, right, arabicLetter, arabicNumber, europeanNumber, mark, separator, neutral
    }

    /// Returns whether a name satisfies the rule, so that it is displayed unambiguously.
    static func accepts(_ scalars: [Unicode.Scalar]) -> Bool {
        let classes = scalars.map(Self.bidiClass)
        guard classes.contains(where: { $0 == .right || $0 == .arabicLetter || $0 == .arabicNumber }) else { return true }
        guard let first = classes.first, let last = classes.last(where: { $0 != .mark }) else { return false }
        switch first {
        case .right, .arabicLetter:
            // Conditions 2, 3 and 4.
            return !classes.contains(.left) && [.right, .arabicLetter, .europeanNumber, .arabicNumber].contains(last)
                && !(classes.contains(.europeanNumber) && classes.contains(.arabicNumber))
        default:
            // Conditions 1 and 5: a left-to-right name contains no right-to-left characters.
            return false
        }
    }

    private static func bidiClass(_ scalar: Unicode.Scalar) -> Class {
        switch scalar.value {
        case 0x30...0x39, 0x06F0...0x06F9: return .europeanNumber
        case 0x0660...0x0669, 0x10D30...0x10D39, 0x10E60...0x10E7E: return .arabicNumber
        case 0x2D, 0x2E: return .separator
        case 0x5F: return .neutral
        default: break
        }
        if scalar.properties.generalCategory == .nonspacingMark { return .mark }
        switch scalar.value {
        case 0x0600...0x07BF, 0x0860...0x08FF, 0xFB50...0xFDFF, 0xFE70...0xFEFF, 0x10D00...0x10D3F, 0x10EC0...0x10EFF,
            0x10F30...0x10F6F, 0x1EC70...0x1ECBF, 0x1ED00...0x1ED4F, 0x1EE00...0x1EEFF:
            return .arabicLetter
        case 0x0590...0x05FF, 0x07C0...0x085F, 0xFB1D...0xFB4F, 0x10800...0x10FFF, 0x1E800...0x1EFFF: return .right
        default: return .left
        }
    }
}

/// Refuses names that mix letters of scripts whose letters look alike.
///
/// Source: the single-script restriction of UTS 39 section 5. Scripts without letters that look
/// like those of others, such as Han and Kana, can be mixed with Latin.
enum ScriptMix {
    static func accepts(_ scalars: [Unicode.Scalar]) -> Bool {
        var found: Script?
        for scalar in scalars {
            guard let script = Script(scalar) else { continue }
            if let found, found != script { return false }
            found = script
        }
        return true
    }

    private enum Script {
        case latin, greek, cyrillic, armenian, georgian, cherokee, coptic, lisu

        init?(_ scalar: Unicode.Scalar) {
            guard scalar.properties.isAlphabetic else { return nil }
            switch scalar.value {
            case 0x41...0x5A, 0x61...0x7A, 0xAA, 0xBA, 0xC0...0x02AF, 0x1D00...0x1D25, 0x1D6B...0x1D77, 0x1D79...0x1D9A, 0x1E00...0x1EFF,
                0x214E, 0x2184, 0x2C60...0x2C7F, 0xA722...0xA7FF, 0xAB30...0xAB64, 0x1DF00...0x1DFFF:
                self = .latin
            case 0x0370...0x03E1, 0x03F0...0x03FF, 0x1D26...0x1D2A, 0x1F00...0x1FFF, 0xAB65: self = .greek
            case 0x0400...0x052F, 0x1C80...0x1C8F, 0x1D2B, 0x2DE0...0x2DFF, 0xA640...0xA69F: self = .cyrillic
            case 0x0531...0x058F: self = .armenian
            case 0x10A0...0x10FF, 0x1C90...0x1CBF, 0x2D00...0x2D2F: self = .georgian
            case 0x13A0...0x13FF, 0xAB70...0xABBF: self = .cherokee
            case 0x03E2...0x03EF, 0x2C80...0x2CFF: self = .coptic
            case 0xA4D0...0xA4FF: self = .lisu
            default: return nil
            }
        }
    }
}
