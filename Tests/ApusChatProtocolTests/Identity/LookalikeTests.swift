import ApusChatProtocol
import Foundation
import Testing

/// Letters of one script that pass for those of another: which names refuse them, and which names
/// are marked because of them.
@Suite("Letters that look alike")
struct LookalikeTests {
    // MARK: Mixed scripts

    /// A letter of each script whose letters look alike.
    private static let scripts: [(name: String, letters: [String])] = [
        ("Latin", ["a", "z", "é", "ɑ", "ạ", "ᴄ", "ᴏ", "ꜱ", "ʙ"]), ("Greek", ["α", "ω", "ά", "ἀ", "ᴦ"]),
        ("Cyrillic", ["а", "я", "ё", "ѓ", "ᴫ"]),
        ("Armenian", ["ա", "ֆ"]), ("Georgian", ["ა", "ჰ"]), ("Cherokee", ["ꭰ", "ᏸ"]), ("Coptic", ["ⲁ", "ϣ"]), ("Lisu", ["ꓐ", "ꓨ"]),
    ]

    @Test func lettersOfTwoScriptsAreNotMixed() {
        for one in Self.scripts {
            for other in Self.scripts {
                for first in one.letters {
                    for second in other.letters {
                        let text = first + second
                        #expect((UserName(text) != nil) == (one.name == other.name), "\(text): \(one.name) and \(other.name)")
                    }
                }
            }
        }
    }

    /// Digits, punctuation and marks belong to every script, and so do scripts whose letters look
    /// like no others.
    @Test(arguments: ["a1", "я1", "α_1", "я.я", "ա-9", "я\u{301}", "α\u{323}", "a鸟", "я鸟", "αか", "a가", "wangก"])
    func othersAreMixedWithEveryScript(text: String) { #expect(UserName(text) != nil) }

    // MARK: Skeletons

    /// Letters and the ASCII letters that they look like, in order. The skeletons of `i`, `m` and
    /// `w` are `l`, `rn` and `vv`.
    @Test(arguments: [
        ("аеіјорсухѕһԁԛԝѵӏүг", "aeijopcyxshdqwvlyr"), ("АВЕКМНОРСТХУЅІЈԚԜ", "ABEKMHOPCTXYSIJQW"), ("αονρυικγϳ", "aovpuikyj"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\u{37F}", "ABEZHIKMNOPTYXJ"), ("ոսօհզցյ", "nuohqgj"), ("ՕՏԼՍ", "OSLU"),
        ("ᎪᏴᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᎳᏃ", "ABCDEGHIJKLMPRSTVWZ"),
        ("ꓮꓐꓚꓓꓒꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "ABCDdEFGHlJKLMNOPRSTUVWXYZ"),
        ("ⲅⲟⲣⲥⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬ", "ropcHlKMNOPCTYX"), ("ռգաքყჿ", "nqwfyo"), ("ѡҽԌϜϺᴦ", "weGFMr"), ("ᎡᎩᏂᏏᏔᏕᏧᏳꭱꭹꮒ", "RYhbWSdGryh"),
        ("ᗅᗷᑲᗪᑯᖴᕼᒍᒪᗰᑭᖇᑌᐯⴹⵏⵔⵝᚷᛕᛖ", "ABbDdFHJLMPRUVElOXXKM"), ("ƍǀɣỿꬲꬵꬽꭇꭒꭚꞘꞲꞳꞴʋ", "glyyeforuyFJXBu"),
        ("٥۵०০੦௦๐၀〇١۱", "ooooooooo11"), ("×℮∣", "xel"), ("ＦＲ𝟊𝛭𝓜", "FRFMM"),
        ("ıɑɡɩɪʏᴏᴄᴠᴡᴢꜱɢʜɴʀʟᴀᴇᴋᴘᴛᴜⅼ", "iagiiyocvwzsghnrlaekptul"), ("０１", "01"), ("01|", "oll"), ("ＡＢＣｘｙｚ", "abcxyz"), ("𝐚𝒃𝓬𝔡", "abcd"),
    ])
    func aLetterHasTheSkeletonOfItsLookalike(letters: String, ascii: String) {
        #expect(letters.unicodeScalars.count == ascii.unicodeScalars.count)
        for (letter, expected) in zip(letters.unicodeScalars, ascii.unicodeScalars) {
            let (one, other) = (String(letter), String(expected))
            #expect(NameSkeleton.skeleton(of: one) == NameSkeleton.skeleton(of: other), "\(one) \(other)")
            #expect(NameSkeleton.looksAlike("x" + one + "x", "x" + other + "x"), "\(one) \(other)")
        }
        #expect(NameSkeleton.skeleton(of: letters) == NameSkeleton.skeleton(of: ascii))
    }

    /// Letters that look like no ASCII letter keep a skeleton of their own.
    @Test(arguments: ["джзлфцшщюяыэ", "βδζθλμξπφψω\u{3FF}", "აბგდევზ", "אבגדה", "ابتثج", "鸟明日本", "กขคง", "ßøðþ"])
    func otherLettersHaveTheirOwnSkeleton(letters: String) {
        var seen: Set<String> = []
        for letter in letters.unicodeScalars {
            let skeleton = NameSkeleton.skeleton(of: String(letter))
            #expect(!skeleton.isEmpty && !skeleton.unicodeScalars.contains { $0.isASCII && $0.properties.isAlphabetic }, "\(letter)")
            #expect(seen.insert(skeleton).inserted, "\(letter)")
        }
    }

    /// Case, marks, spaces, punctuation of names and characters that show nothing are ignored.
    @Test(arguments: [
        "Alice", "ALICE", "a.l.i.c.e", "a_lice", "a-l-i-c-e", "al ice", "a\u{A0}lice", "al\u{200B}ice", "al\u{200D}ice", "al\u{AD}ice",
        "al\u{202E}ice",
        "a\u{301}lice", "al\u{20DD}ice", "alice\u{FE0F}", "a\u{0}lice", "\u{FEFF}alice", "\u{E0041}alice", "al\u{3164}ice", "a11ce",
        "aIice", "a|ice",
        "аӏісе",
    ])
    func namesWithIgnoredCharactersLookAlike(name: String) {
        #expect(NameSkeleton.skeleton(of: name) == "allce")
        #expect(NameSkeleton.looksAlike(name, "alice"))
    }

    /// Names that differ only in case look alike, also if the capitals resemble other letters: `В`
    /// and `в`, `Ν` and `ν`.
    @Test(arguments: [
        ("Вера", "вера"), ("НИКИТА", "никита"), ("Νίκη", "νίκη"), ("ΝΊΚΗ", "Νίκη"), ("ⲎⲚ", "ⲏⲛ"), ("Bepa", "Вера"), ("Nlkη", "Νίκη"),
    ])
    func namesOfDifferentCaseLookAlike(first: String, second: String) {
        #expect(NameSkeleton.looksAlike(first, second) && NameSkeleton.looksAlike(second, first))
    }

    /// Two names without visible characters have an empty skeleton, and a name is not its own
    /// lookalike.
    @Test func emptyAndEqualNames() {
        #expect(NameSkeleton.skeleton(of: "") == "" && NameSkeleton.skeleton(of: "\u{200B}. _-") == "")
        #expect(!NameSkeleton.looksAlike("", "") && !NameSkeleton.looksAlike("alice", "alice"))
        #expect(NameSkeleton.looksAlike("\u{E9}", "e\u{301}"), "two texts of one shape")
    }

    /// The skeletons of two letters and of the letter that looks like them are equal in both
    /// directions.
    @Test(arguments: [
        ("rnodern", "modern"), ("modem", "modern"), ("vvilliam", "william"), ("cornmon", "common"), ("W", "vv"), ("M", "rn"), ("Щ", "щ"),
        ("Cæsar", "Caesar"), ("ÆON", "aeon"), ("cœur", "coeur"), ("ӕ", "ae"),
    ])
    func pairsOfLettersLookLikeOne(first: String, second: String) {
        #expect(NameSkeleton.looksAlike(first, second) && NameSkeleton.looksAlike(second, first))
    }

    /// The page has a table of its own, with the same letters as that of the server.
    @Test func theTableOfThePageIsThatOfTheServer() throws {
        let file = Docs.folder.deletingLastPathComponent().appendingPathComponent("Web/js/text/skeleton.js")
        let script = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "const PAIRS = `")
        let pairs = try #require(script.last?.components(separatedBy: "`").first).split(whereSeparator: \.isWhitespace).map {
            Array($0.unicodeScalars)
        }
        #expect(pairs.count > 100 && pairs.allSatisfy { $0.count == 2 } && Set(pairs.map { $0[0] }).count == pairs.count)
        for pair in pairs {
            let letter = String(pair[0])
            #expect(NameSkeleton.looksAlike(letter, String(pair[1])), "\(letter)")
            // Another form of the letter would never be looked up.
            #expect(letter.decomposedStringWithCompatibilityMapping.unicodeScalars.elementsEqual(letter.unicodeScalars), "\(letter)")
        }
        let shared = try #require(script.first?.components(separatedBy: "const SHARED = {").last?.components(separatedBy: "}").first)
        let forms = shared.components(separatedBy: ",").map { $0.filter { $0 != " " && $0 != "\"" }.components(separatedBy: ":") }
        #expect(forms.count > 5)
        for form in forms { #expect(form.count == 2 && NameSkeleton.skeleton(of: form[0]) == form[1], "\(form)") }
        let letters = Set(pairs.map { $0[0] } + forms.flatMap { $0[0].unicodeScalars })
        for value in UInt32(0x80)..<0x3000 {
            guard let scalar = Unicode.Scalar(value), !letters.contains(scalar) else { continue }
            let text = String(scalar).decomposedStringWithCompatibilityMapping
            guard text.unicodeScalars.elementsEqual([scalar]), scalar.properties.lowercaseMapping == text else { continue }
            #expect(!NameSkeleton.skeleton(of: text).contains { $0.isASCII }, "\(text)")
        }
    }
}
