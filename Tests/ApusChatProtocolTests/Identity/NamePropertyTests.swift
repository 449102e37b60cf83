import ApusChatProtocol
import ApusSeededRandom
import Testing

/// The rules of names for any text, and letters of one script that pass for those of another.
@Suite("Names of any text")
struct NamePropertyTests {
    /// Every assigned scalar alone, at the start, in the middle and at the end of a name. The forms
    /// that are accepted are stable, short and free of characters that change the text around them.
    @Test func everyScalarHasOneFormOrIsRefused() {
        for value in UInt32(0)..<0x3_2000 {
            guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned else { continue }
            for text in [String(scalar), "\(scalar)a", "a\(scalar)a", "a\(scalar)"] {
                guard let name = UserName(text) else { continue }
                let form = name.rawValue
                #expect(UserName(form)?.rawValue.utf8.elementsEqual(form.utf8) == true, "U+\(String(value, radix: 16))")
                let isPlain = form.unicodeScalars.allSatisfy {
                    !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint && !$0.properties.isUppercase
                        && $0.properties.generalCategory != .control && $0.properties.generalCategory != .format
                }
                #expect(isPlain, "U+\(String(value, radix: 16))")
            }
        }
    }

    /// RFC 8266 section 2.3: the rules are idempotent. The compatibility forms of some characters
    /// begin with a space, which must not follow another one.
    @Test func everyScalarBetweenWordsHasAStableShownForm() {
        for value in UInt32(0)..<0x3_2000 {
            guard let scalar = Unicode.Scalar(value) else { continue }
            for text in ["a \(scalar)b", "a\(scalar) b", "\(scalar)", "\(scalar) \(scalar)"] {
                guard let name = Nickname.prepared(text) else { continue }
                #expect(Nickname.prepared(name)?.utf8.elementsEqual(name.utf8) == true, "U+\(String(value, radix: 16))")
                #expect(!name.contains("  ") && name.first != " " && name.last != " ", "U+\(String(value, radix: 16))")
                #expect(!name.unicodeScalars.contains { $0.properties.generalCategory == .control }, "U+\(String(value, radix: 16))")
            }
        }
    }

    @Test(arguments: [
        ("a \u{A8}b", "a \u{308}b"), ("a \u{B4} b", "a \u{301} b"), ("x  \u{2DC}", "x \u{303}"), ("a\u{A0}\u{AF}b", "a \u{304}b"),
        ("\u{FDFA} a", "صلى الله عليه وسلم a"),
    ])
    func spacesOfCompatibilityFormsAreJoined(text: String, expected: String) {
        #expect(Nickname.prepared(text).map { Array($0.unicodeScalars) } == Array(expected.unicodeScalars))
    }

    /// Names without a visible character.
    @Test(arguments: [
        "\u{2800}", "\u{2800}\u{2800}", "\u{2800} \u{2800}", "\u{3164}", "\u{FFA0}", "\u{115F}\u{1160}", "\u{200D}\u{FE0F}", "\u{180E}",
        "\u{E0041}\u{E007F}", "\u{20DD}", "\u{FE0E}", "\u{2062}", "\u{1D173}", "\u{E0100}",
    ])
    func aNameWithoutVisibleCharactersIsRefused(text: String) {
        #expect(Nickname.prepared(text) == nil)
        #expect(UserName(text) == nil)
    }

    @Test(arguments: ["⠓⠊", "a\u{2800}b", "🏴\u{E0067}\u{E0062}\u{E007F}", "1\u{FE0F}\u{20E3}", "🧑🏽‍🚀"])
    func brailleAndEmojiStayNames(text: String) {
        #expect(Nickname.prepared(text)?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
    }

    // MARK: Alike

    /// Account names are in lower case, so the letters of a script have other shapes than in the
    /// table's capitals.
    @Test(arguments: [
        ("ᎪᏟᎬ", "ace"), ("ꭺꮯꭼ", "ace"), ("ᎢᎬᎠ", "ted"), ("ᏢᎪᎢ", "pat"), ("ϳоe", "joe"), ("ʀᴏʙ", "roʙ"), ("ѕсоре", "scope"), ("ոօո", "non"),
    ])
    func accountNamesOfOtherScriptsLookAlike(first: String, second: String) throws {
        #expect(NameSkeleton.looksAlike(first, second) && NameSkeleton.looksAlike(second, first))
        guard let one = UserName(first), let other = UserName(second) else { return }
        #expect(NameSkeleton.looksAlike(one, other))
    }

    /// The capitals of Cherokee and their small forms have one shape, so an account name has the
    /// skeleton of the text from which it is prepared.
    @Test func smallLettersOfCherokeeAreLikeTheirCapitals() throws {
        var letters = 0
        for value in UInt32(0x13A0)...0x13EF {
            let capital = String(try #require(Unicode.Scalar(value)))
            let name = try #require(UserName(capital))
            #expect(!name.rawValue.unicodeScalars.elementsEqual(capital.unicodeScalars))
            let skeleton = NameSkeleton.skeleton(of: name.rawValue)
            #expect(NameSkeleton.skeleton(of: capital) == skeleton, "\(capital)")
            if skeleton.utf8.allSatisfy({ $0 < 0x80 }) { letters += 1 }
        }
        #expect(letters > 15)
    }

    @Test func aSkeletonIsItsOwnSkeleton() {
        var generator = SplitMix64(state: 21)
        let letters = Array("aAbwWmMiI1l|0oOéñßсеВнᎪꭺᏔαΑσςոօʀᴏɡſⅼĳﬁ._- 鸟ｍ𝐰".unicodeScalars)
        for _ in 0..<3_000 {
            var name = ""
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                name.unicodeScalars.append(letters[Int.random(in: 0..<letters.count, using: &generator)])
            }
            let skeleton = NameSkeleton.skeleton(of: name)
            #expect(NameSkeleton.skeleton(of: skeleton) == skeleton, "\(name)")
            #expect(!skeleton.contains { $0 == "m" || $0 == "w" || $0 == "i" || $0 == "1" || $0 == "0" || $0.isUppercase }, "\(name)")
        }
    }
}
