import ApusChatProtocol
import Testing

/// The profile of account names: the exceptions of the identifier class (RFC 8264 section 9), the
/// contextual rules (RFC 5892 appendix A), and the order of the steps (RFC 8265 section 3.3.3).
@Suite("The profile of account names")
struct NameProfileTests {
    private func name(_ text: String) -> [Unicode.Scalar]? { UserName(text).map { Array($0.rawValue.unicodeScalars) } }

    // MARK: Exceptions

    /// RFC 8264 section 9.6 (exceptions), each in a name of its script.
    @Test(arguments: [
        ("\u{DF}", "straße"), ("\u{3C2}", "λόγος"), ("\u{6FD}", "ا\u{6FD}"), ("\u{6FE}", "ا\u{6FE}"), ("\u{F0B}", "ཀ\u{F0B}ཁ"),
        ("\u{3007}", "二\u{3007}"),
        ("\u{3007}", "\u{3007}"),
    ])
    func charactersOfTheExceptionsAreAllowed(character: String, text: String) {
        #expect(self.name(text)?.contains(character.unicodeScalars.first ?? "a") == true)
    }

    @Test(arguments: [
        "ا\u{640}ا", "ߊ\u{7FA}ߊ", "か\u{302E}", "か\u{302F}", "か\u{3031}か", "か\u{3032}か", "か\u{3033}か", "か\u{3034}か", "か\u{3035}か",
        "二\u{303B}二",
    ])
    func otherCharactersOfTheExceptionsAreRefused(text: String) { #expect(UserName(text) == nil) }

    /// RFC 5892 appendix A: the contextual characters, which this profile excludes, in their valid
    /// contexts. The profile permits the digits.
    @Test(arguments: [
        ("क\u{94D}\u{200D}ष", false), ("ن\u{200C}ن", false), ("l\u{B7}l", false), ("\u{375}α", false), ("α\u{375}α", false),
        ("א\u{5F3}א", false),
        ("א\u{5F4}א", false), ("カ\u{30FB}カ", false), ("م\u{660}", true), ("م\u{669}", true), ("م\u{6F0}", true), ("م\u{6F9}", true),
        ("م\u{660}\u{6F0}", false), ("م\u{6F9}\u{669}", false), ("م\u{660}0", false), ("م\u{6F0}0", true),
    ])
    func contextualCharactersAreDigitsOnly(text: String, isAllowed: Bool) { #expect((UserName(text) != nil) == isAllowed) }

    /// The categories of RFC 8264 section 4.2: letters, digits and marks are names, all others are
    /// not.
    @Test(arguments: [
        ("क१", true), ("ก๑", true), ("a\u{300}", true), ("क\u{903}", true), ("aʰ", false), ("ˈa", true), ("a\u{2C6}", true), ("aⅷ", false),
        ("a\u{3023}", false), ("a½", false), ("a€", false), ("a+b", false), ("a^b", false), ("a`b", false), ("a~b", false), ("a=b", false),
        ("a|b", false),
        ("a«b", false), ("a–b", false), ("a‿b", false), ("a…b", false), ("a\u{2028}b", false), ("a\u{20DD}", false), ("a\u{605}", false),
        ("a\u{FFFE}", false),
    ])
    func categoriesDecide(text: String, isAllowed: Bool) { #expect((UserName(text) != nil) == isAllowed) }

    // MARK: Steps

    /// The width is mapped first, so that wide punctuation and capitals follow the rules of the
    /// usual ones.
    @Test(arguments: [
        ("ａ．ｂ", "a.b"), ("ａ＿ｂ", "a_b"), ("ａ－ｂ", "a-b"), ("Ａ１", "a1"), ("ﾡￂ", "\u{AC00}"), ("ｶﾞ", "\u{30AC}"), ("ﾊﾟｰ", "\u{30D1}\u{30FC}"),
    ])
    func theWidthIsMappedFirst(text: String, expected: String) { #expect(self.name(text) == Array(expected.unicodeScalars)) }

    @Test(arguments: ["．ａ", "ａ．", "＿ａ", "ａ－", "ａ＠ｂ", "ａ／ｂ", "ａ　ｂ", "ａ･ｂ", "￡", "ａ！"])
    func widePunctuationIsRefusedAsTheUsualOne(text: String) { #expect(UserName(text) == nil) }

    /// The case is mapped without regard to the context, and before the normalization.
    @Test(arguments: [
        ("ΣΟΦΟΣ", "\u{3C3}\u{3BF}\u{3C6}\u{3BF}\u{3C3}"), ("E\u{301}", "\u{E9}"), ("\u{1FBC}", "\u{1FB3}"), ("\u{391}\u{345}", "\u{1FB3}"),
        ("\u{212A}elvin", "kelvin"), ("\u{212B}", "\u{E5}"), ("\u{2126}", "\u{3C9}"), ("\u{1E9E}", "\u{DF}"), ("\u{130}x", "i\u{307}x"),
        ("ᲐᲑ", "აბ"), ("𐐀𐐁", "𐐨𐐩"), ("𞤀𞤁", "𞤢𞤣"), ("Ⰰ", "ⰰ"),
    ])
    func theCaseIsMappedAsInUnicode(text: String, expected: String) { #expect(self.name(text) == Array(expected.unicodeScalars)) }

    /// Marks in another order, and other forms of one character, are one name.
    @Test(arguments: [
        ("q\u{323}\u{307}", "q\u{307}\u{323}"), ("\u{1E69}", "s\u{307}\u{323}"), ("\u{AC01}", "\u{1100}\u{1161}\u{11A8}"),
        ("\u{958}", "\u{915}\u{93C}"),
        ("\u{FB2A}", "\u{5E9}\u{5C1}"), ("\u{F900}", "\u{8C48}"), ("\u{1F71}", "\u{3AC}"), ("a\u{340}", "a\u{300}"),
    ])
    func canonicallyEquivalentTextsAreOneName(first: String, second: String) {
        #expect(!first.unicodeScalars.elementsEqual(second.unicodeScalars))
        #expect(UserName(first) != nil && UserName(first) == UserName(second))
    }

    /// A letter with a compatibility form beyond its width is refused, and does not become another
    /// name.
    @Test(arguments: ["ﬀ", "ĳ", "ŉ", "ǆ", "Ǆ", "ſ", "ª", "º", "ᵃ", "ⓐ", "𝐚", "𝓪", "ℓ", "ﷲ", "ﺎ", "㌀", "㎏", "⼀", "ﹰ"])
    func compatibilityFormsAreRefused(text: String) {
        #expect(UserName(text) == nil && UserName("a" + text) == nil)
    }

    // MARK: Length

    /// The length is that of the prepared name.
    @Test(
        arguments: [
            (String(repeating: "e\u{301}", count: 32), 32), (String(repeating: "e\u{301}", count: 33), nil),
            (String(repeating: "ｶﾞ", count: 32), 32),
            (String(repeating: "\u{1100}\u{1161}\u{11A8}", count: 32), 32), (String(repeating: "\u{130}", count: 16), 32),
            (String(repeating: "\u{130}", count: 17), nil), (String(repeating: "𐐀", count: 32), 32),
            (String(repeating: "𐐀", count: 33), nil),
            ("a" + String(repeating: "\u{301}", count: 32), 32), ("a" + String(repeating: "\u{301}", count: 33), nil),
            (String(repeating: "a", count: 31) + ".", nil), (String(repeating: "a.", count: 15) + "ab", 32),
        ] as [(String, Int?)])
    func theLengthIsThatOfThePreparedName(text: String, count: Int?) { #expect(self.name(text)?.count == count) }

    /// A text far beyond the limit is refused without its preparation.
    @Test(arguments: ["a", "e\u{301}", "鸟", "\u{301}", "ﷺ", "\u{0}", "."]) func aVeryLongTextIsRefused(part: String) {
        #expect(UserName(String(repeating: part, count: 200_000)) == nil)
    }

    // MARK: Order

    /// Names sort by their scalars, which is the order of their bytes in UTF-8.
    @Test func namesSortByTheirScalars() throws {
        let texts = ["a", "a-", "a-b", "a.b", "a0", "a_b", "aa", "ab", "b", "\u{E9}", "ß", "а", "鸟", "\u{10428}"]
        let names = texts.compactMap { UserName($0) }
        #expect(names.count == texts.count - 1)
        let sorted = names.sorted()
        for (one, next) in zip(sorted, sorted.dropFirst()) {
            #expect(one < next && !(next < one) && one != next)
            #expect(one.rawValue.unicodeScalars.lexicographicallyPrecedes(next.rawValue.unicodeScalars))
        }
    }
}
