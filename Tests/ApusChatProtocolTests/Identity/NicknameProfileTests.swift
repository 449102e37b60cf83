import ApusChatProtocol
import ApusJSON
import Testing

/// The profile of shown names and titles (RFC 8266 section 2): the classes of characters, the
/// spaces, and the comparison.
@Suite("The profile of shown names")
struct NicknameProfileTests {
    private func prepared(_ text: String) -> [Unicode.Scalar]? { Nickname.prepared(text).map { Array($0.unicodeScalars) } }

    private func reader(_ nick: String) -> WireReader {
        let fields: JSONObject = ["nick": .string(nick)]
        return WireReader(fields)
    }

    // MARK: Spaces

    /// Each space of Unicode is mapped to U+0020 (RFC 8266 section 2.1), and several spaces to one.
    @Test(arguments: [
        "\u{20}", "\u{A0}", "\u{1680}", "\u{2000}", "\u{2001}", "\u{2002}", "\u{2003}", "\u{2004}", "\u{2005}", "\u{2006}", "\u{2007}",
        "\u{2008}",
        "\u{2009}", "\u{200A}", "\u{202F}", "\u{205F}", "\u{3000}",
    ])
    func eachSpaceIsTheSameSpace(space: String) {
        #expect(self.prepared("a\(space)b") == ["a", " ", "b"])
        #expect(self.prepared("\(space)a\(space) \(space)b\(space)") == ["a", " ", "b"])
        #expect(Nickname.prepared(space) == nil && Nickname.prepared(space + space) == nil)
    }

    /// Other characters that break a line or move a cursor are not spaces.
    @Test(arguments: [
        "\t", "\n", "\u{B}", "\u{C}", "\r", "\r\n", "\u{85}", "\u{2028}", "\u{2029}", "\u{200B}", "\u{2060}", "\u{FEFF}", "\u{180E}",
    ])
    func otherWhiteSpaceIsRefused(text: String) {
        for name in ["a\(text)b", "a\(text)", "\(text)a"] { #expect(Nickname.prepared(name) == nil) }
    }

    // MARK: Classes

    /// Characters that change the direction of the text around a name, or that are not shown.
    @Test(arguments: [
        "\u{0}", "\u{1B}", "\u{7F}", "\u{9F}", "\u{AD}", "\u{34F}", "\u{61C}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{180B}", "\u{200C}",
        "\u{200E}",
        "\u{200F}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2061}", "\u{2064}", "\u{2066}", "\u{2067}", "\u{2068}",
        "\u{2069}",
        "\u{206F}", "\u{3164}", "\u{FE00}", "\u{FE0D}", "\u{FFA0}", "\u{FFF9}", "\u{FFFB}", "\u{1BCA0}", "\u{1D173}", "\u{E0001}",
        "\u{E0100}",
        "\u{E01EF}", "\u{E000}", "\u{F8FF}", "\u{F0000}", "\u{10FFFD}", "\u{378}", "\u{E0FFF}",
    ])
    func aCharacterOfThisClassIsRefused(character: String) {
        for name in [character, "a\(character)", "\(character)a", "a\(character)b", "👍\(character)"] {
            #expect(Nickname.prepared(name) == nil)
        }
    }

    /// RFC 8264 section 4.3: the free-form class has letters, digits, symbols, punctuation and
    /// marks of every script.
    @Test(arguments: [
        "O'Neil", "A & B", "<b>", "\"x\"", "a/b", "a@b", "#1", "½", "€5", "«a»", "☃", "a\u{20DD}", "กขค", "שלום", "مرحبا", "देव", "鸟", "𐐀",
        "ß", "ẞ",
        "İ", "ı", "a\u{323}\u{307}", "‽", "…", "🏳️‍🌈", "👩🏽‍🤝‍👨🏿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤︎", "#️⃣",
    ])
    func namesOfEveryScriptAreAllowed(name: String) throws {
        let prepared = try #require(Nickname.prepared(name))
        #expect(Nickname.prepared(prepared)?.utf8.elementsEqual(prepared.utf8) == true)
        #expect(try self.reader(name).nickname("nick", maximum: 50) == prepared)
    }

    /// The form is NFKC: of two texts that are shown alike, one is stored.
    @Test(arguments: [
        ("e\u{301}", "\u{E9}"), ("\u{212B}", "\u{C5}"), ("ﬁ", "fi"), ("①", "1"), ("Ⅳ", "IV"), ("ｆｏｏ", "foo"), ("ﾊﾟ", "\u{30D1}"), ("𝓐", "A"),
        ("x²", "x2"), ("㎏", "kg"), ("½", "1\u{2044}2"), ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("\u{2126}", "\u{3A9}"), ("ſ", "s"),
        ("\u{2460}\u{FE0F}", "1\u{FE0F}"), ("…", "..."), ("‼", "!!"),
    ])
    func aNameHasOneForm(text: String, expected: String) { #expect(self.prepared(text) == Array(expected.unicodeScalars)) }

    /// The case is kept in a name, and ignored by its comparison only (RFC 8266 section 2.4).
    @Test(arguments: [
        ("Alice", "aLICE"), ("Straße", "STRAẞE"), ("ΣΑ", "σα"), ("Ǆ", "ǆ"), ("É", "e\u{301}"), ("Ａ", "a"), ("ИВАН", "иван"), ("𐐀", "𐐨"),
        ("Ⅳ", "iv"),
        ("Ω", "\u{2126}"),
    ])
    func theComparisonIgnoresTheCase(first: String, second: String) {
        #expect(Nickname.compared(first).unicodeScalars.elementsEqual(Nickname.compared(second).unicodeScalars))
        guard let one = Nickname.prepared(first), let other = Nickname.prepared(second) else { return }
        #expect(Nickname.compared(one) == Nickname.compared(other))
    }

    @Test(arguments: [("a", "á"), ("ss", "ß"), ("i", "ı"), ("a b", "ab"), ("0", "O"), ("а", "a")])
    func theComparisonDistinguishesOtherNames(first: String, second: String) {
        #expect(Nickname.compared(first) != Nickname.compared(second))
    }

    // MARK: Fields

    /// The limit applies to the text that the client sent, and to the prepared name.
    @Test(
        arguments: [
            (String(repeating: "a", count: 50), nil), (String(repeating: "a", count: 51), .tooLarge),
            (String(repeating: "a ", count: 25), nil), (String(repeating: " ", count: 50) + "a", .tooLarge),
            (String(repeating: "e\u{301}", count: 25), nil), (String(repeating: "e\u{301}", count: 26), .tooLarge), ("ﷺﷺ", nil),
            ("ﷺﷺﷺ", .tooLarge),
            (String(repeating: "㎏", count: 25), nil), (String(repeating: "㎏", count: 26), .tooLarge), ("\u{202E}", .invalid),
        ] as [(String, WireError.Problem?)])
    func aFieldHasItsLimitBeforeAndAfterThePreparation(text: String, problem: WireError.Problem?) {
        var found: WireError?
        do throws(WireError) { _ = try self.reader(text).nickname("nick", maximum: 50) } catch { found = error }
        #expect(found?.problem == problem && (found == nil || found?.field == "nick"))
    }
}
