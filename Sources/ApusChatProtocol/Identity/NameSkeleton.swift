import Foundation

/// Computes a common form of names that look alike, to mark a name that can be confused with the
/// name of a contact.
///
/// Source: the skeleton of UTS 39 section 4, with a reduced table. The table contains the letters
/// of scripts in use, the variants of Latin letters, and the digits `0` and `1` of all scripts that
/// look like ASCII letters. In addition to UTS 39, letter case, marks, spaces, `.`, `_` and `-` are
/// ignored, and `i` and `|` are equal to `l`. Two names with a common skeleton look alike. Names
/// with different skeletons may also look alike.
package enum NameSkeleton {
    /// Returns the skeleton of an account name or a shown name.
    package static func skeleton(of name: String) -> String {
        var skeleton = ""
        // Some capitals look like an ASCII letter although their lower-case forms do not (`В` and
        // `в`), so scalars are mapped before and after the conversion to lower case.
        for scalar in name.decomposedStringWithCompatibilityMapping.unicodeScalars {
            guard !self.isIgnored(scalar) else { continue }
            for lower in self.letter(scalar).properties.lowercaseMapping.unicodeScalars {
                self.append(self.letter(lower), to: &skeleton)
            }
        }
        return skeleton
    }

    /// Returns the skeletons of a name and of its lower-case form. Two names that differ only in
    /// case have a common skeleton, although a capital can resemble another letter than its
    /// lower-case form.
    package static func skeletons(of name: String) -> Set<String> { [self.skeleton(of: name), self.skeleton(of: name.lowercased())] }

    /// Returns the letter that a scalar resembles, or the scalar. The lower-case letters of
    /// Cherokee (U+AB70 to U+ABBF), which account names contain, are small forms of the capitals
    /// in the table.
    private static func letter(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        if let letter = self.table[scalar] { return letter }
        guard (0xAB70...0xABBF).contains(scalar.value), let capital = Unicode.Scalar(scalar.value - 0xAB70 + 0x13A0) else { return scalar }
        return self.table[capital] ?? scalar
    }

    /// Returns whether two different names have a common skeleton.
    package static func looksAlike(_ first: String, _ second: String) -> Bool {
        !first.utf8.elementsEqual(second.utf8) && !self.skeletons(of: first).isDisjoint(with: self.skeletons(of: second))
    }

    /// Returns whether two different account names have a common skeleton.
    package static func looksAlike(_ first: UserName, _ second: UserName) -> Bool { self.looksAlike(first.rawValue, second.rawValue) }

    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format, .spaceSeparator, .control: true
        default: scalar.properties.isDefaultIgnorableCodePoint || scalar == "." || scalar == "_" || scalar == "-"
        }
    }

    /// Appends a scalar, or the ASCII letters that it resembles: `m` is appended as `rn`, and `1`
    /// as `l`.
    private static func append(_ scalar: Unicode.Scalar, to skeleton: inout String) {
        switch scalar {
        case "m": skeleton += "rn"
        case "w": skeleton += "vv"
        case "i", "1", "|": skeleton += "l"
        case "0": skeleton += "o"
        case "æ", "ӕ": skeleton += "ae"
        case "œ": skeleton += "oe"
        default: skeleton.unicodeScalars.append(scalar)
        }
    }

    /// Pairs of a scalar and the ASCII letter that it resembles, from `confusables.txt` of UTS 39:
    /// Cyrillic, Greek, Armenian and Georgian, Coptic, Cherokee, Lisu, Canadian syllabics with
    /// Tifinagh and Runic, Latin, and the digits of other scripts with symbols.
    private static let pairs = """
        аa еe іi јj оo рp сc уy хx ѕs һh ԁd ԛq ԝw ѡw ѵv ӏl үy гr ьb ҽe ꙇi АA ВB ЕE КK МM НH ОO РP СC ТT ХX УY ЅS ІI ЈJ ԌG ԚQ ԜW ѴV ӀI ҮY \
        αa οo νv ρp υu ιi κk γy σo ϳj ᴦr ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX ͿJ ϜF ϺM \
        ոn ռn սu օo հh զq գq ցg յj աw քf ՕO ՏS ԼL ՍU ყy ჿo \
        ⲅr ⲟo ⲣp ⲥc ⲎH Ⲓl ⲔK ⲘM ⲚN ⲞO ⲢP ⲤC ⲦT ⲨY ⲬX ⳐL \
        ᎪA ᏴB Ꮟb ᏟC ᎠD Ꮷd ᎬE ᏀG ᏳG ᎻH Ꮒh ᎥI ᎫJ ᏦK ᏞL ᎷM ᏢP ᎡR ᏒR ᏚS ᏕS ᎢT ᏙV ᎳW ᏔW ᎩY ᎽY ᏃZ ꮁr \
        ꓮA ꓐB ꓚC ꓓD ꓒd ꓰE ꓝF ꓖG ꓧH ꓲl ꓙJ ꓗK ꓡL ꓟM ꓠN ꓳO ꓑP ꓣR ꓢS ꓔT ꓴU ꓦV ꓪW ꓫX ꓬY ꓜZ \
        ᗅA ᗷB ᑲb ᖯb ᗞD ᗪD ᑯd ᖴF ᕼH ᒍJ ᒪL ᗰM ᑭP ᖇR ᑌU ᐯV ᕁx ᕽx ⴸV ⴹE ⵏl ⵔO ⵕQ ⵝX ᚷX ᛁl ᛕK ᛖM \
        ıi ɑa ɡg ɩi ɪi ʏy ᴏo ᴄc ᴠv ᴡw ᴢz ꜱs ɢg ʜh ɴn ʀr ʟl ᴀa ᴇe ᴋk ᴘp ᴛt ᴜu ɛe ʋu ƅb ɯw ƍg ǀl ɣy ỿy \
        ᶃg ᶌy ᴑo ꞟu ꬲe ꬵf ꬽo ꭇr ꭈr ꭎu ꭒu ꭚy ꞙf ẝf ꞘF ꞲJ ꞳX ꞴB \
        ١l ۱l ٥o ۵o ߀o ०o ০o ੦o ૦o ୦o ௦o ౦o ೦o ൦o ๐o ໐o ၀o 〇o ×x ℮e ∣l ∨v ∪U
        """

    private static let table: [Unicode.Scalar: Unicode.Scalar] = {
        var table: [Unicode.Scalar: Unicode.Scalar] = [:]
        for pair in Self.pairs.split(separator: " ") {
            let scalars = Array(pair.unicodeScalars)
            if scalars.count == 2 { table[scalars[0]] = scalars[1] }
        }
        return table
    }()
}
