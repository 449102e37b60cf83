import ApusChatProtocol
import Testing

@Suite("Account names (RFC 8265)")
struct UserNameTests {
    @Test(arguments: [
        ("alice", "alice"), ("Alice", "alice"), ("ALICE", "alice"), ("a", "a"), ("a.b_c-d9", "a.b_c-d9"), ("9lives", "9lives"),
        // Width mapping.
        ("ａｌｉｃｅ", "alice"), ("ＡＬＩＣＥ９", "alice9"), ("ｱｲｳ", "アイウ"),
        // Normalization form C.
        ("ele\u{301}a", "el\u{E9}a"), ("\u{E9}", "\u{E9}"), ("E\u{301}", "\u{E9}"),
        ("ｶﾞｷﾞ", "\u{30AC}\u{30AE}"), ("\u{AC00}\u{11A8}", "\u{AC01}"), ("\u{1112}\u{1161}\u{11AB}", "\u{D55C}"),
        // Case mapping beyond ASCII; the sharp s and the final sigma remain unchanged (RFC 8265
        // section 3.5).
        ("fußball", "fußball"), ("π", "π"), ("Σ", "σ"), ("ς", "ς"), ("ÉCOLE", "école"), ("Иван", "иван"),
        // Scripts without case.
        ("张伟", "张伟"), ("张wei", "张wei"), ("たろう", "たろう"), ("김철수", "김철수"), ("ราม", "ราม"), ("रवि", "रवि"),
        // From right to left (RFC 5893).
        ("אבג", "אבג"), ("אבג9", "אבג9"), ("محمد", "محمد"), ("محمد٣", "محمد٣"),
    ])
    func namesHaveOneForm(text: String, expected: String) throws {
        let name = try #require(UserName(text))
        #expect(name.rawValue.unicodeScalars.elementsEqual(expected.unicodeScalars))
        // The preparation of a prepared name changes nothing.
        #expect(UserName(name.rawValue) == name)
        #expect(UserName(prepared: expected) == name)
        #expect(UserName(prepared: expected).hashValue == name.hashValue)
    }

    @Test(arguments: [
        // RFC 8265, table 2, and further characters that this profile excludes.
        "", " ", "foo bar", "juliet@example.com", "henry\u{2163}", "\u{265A}", "\u{221E}", "♚",
        "a/b", "a:b", "a\"b", "a'b", "a<b", "a\u{0}", "a\n", "a\u{7F}",
        // Characters that a name must not begin or end with.
        ".a", "a.", "_a", "a_", "-a", "a-", ".", "\u{301}a",
        // Invisible characters and directional controls.
        "al\u{200B}ice", "al\u{200D}ice", "al\u{200C}ice", "al\u{FEFF}ice", "al\u{AD}ice", "\u{202E}ecila", "a\u{2066}b", "a\u{FE0F}b",
        "a\u{E0041}b", "a\u{115F}b",
        // Compatibility forms other than width.
        "ﬁn", "x²", "①", "ℌ",
        // Old Hangul, private use, unassigned, spaces.
        "\u{1100}", "\u{E000}", "\u{0378}", "a\u{3000}b", "a\u{A0}b",
        // Emoji are not letters.
        "😀", "a👍",
    ])
    func otherTextsAreNotNames(text: String) {
        #expect(UserName(text) == nil)
    }

    /// Letters of scripts that look alike are not mixed.
    @Test(arguments: ["аlice", "alicе", "αlice", "ivaн", "αб", "Ꭺlice", "օne"])
    func scriptsThatLookAlikeAreNotMixed(text: String) {
        #expect(UserName(text) == nil)
    }

    /// RFC 5893 section 2.
    @Test(arguments: ["אa", "aא", "9אב", "אב-", "א9٣", "٣", "ab٣"])
    func directionsAreNotMixed(text: String) {
        #expect(UserName(text) == nil)
    }

    @Test func lengthIsOneToThirtyTwoScalars() {
        #expect(UserName(String(repeating: "a", count: 32)) != nil)
        #expect(UserName(String(repeating: "a", count: 33)) == nil)
        #expect(UserName(String(repeating: "鸟", count: 32)) != nil)
        #expect(UserName(String(repeating: "鸟", count: 33)) == nil)
        #expect(UserName(String(repeating: "a", count: 100_000)) == nil)
        // 64 scalars that normalization composes to 32.
        #expect(UserName(String(repeating: "e\u{301}", count: 32)) != nil)
    }

    @Test func namesCompareByBytes() throws {
        let kelvin = UserName("\u{212A}elvin")
        #expect(kelvin == UserName("kelvin") || kelvin == nil)
        let first = try #require(UserName("a")), second = try #require(UserName("b"))
        #expect(first < second && !(second < first) && first != second)
        #expect(first.description == "a")
    }
}
