import ApusChatProtocol
import ApusJSON
import Testing

@Suite("Shown names and titles (RFC 8266)")
struct NicknameTests {
    /// Each case is a valid nickname and its form after enforcement (RFC 8266, table 1).
    @Test(arguments: [
        ("Foo", "Foo"), ("foo", "foo"), ("Foo Bar", "Foo Bar"), ("  Foo    Bar  ", "Foo Bar"), ("Σ", "Σ"), ("σ", "σ"), ("ς", "ς"),
        ("\u{265A}", "\u{265A}"), ("Richard \u{2163}", "Richard IV"), ("foo\u{A0}\u{3000}bar", "foo bar"),
        ("Ａｌｉｃｅ", "Alice"), ("Zoë 🚣", "Zoë 🚣"), ("👩‍👩‍👧 Familie", "👩‍👩‍👧 Familie"), ("❤️", "❤️"), ("张伟", "张伟"),
        // A mark joins the character before it, also one whose compatibility form is a mark.
        ("e\u{301}", "\u{E9}"), ("ｶﾞｷﾞ ﾊﾟ", "\u{30AC}\u{30AE} \u{30D1}"), ("\u{30AB}\u{3099}", "\u{30AC}"),
        ("\u{AC00}\u{11A8}", "\u{AC01}"), ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"),
    ])
    func namesArePrepared(text: String, expected: String) {
        #expect(Nickname.prepared(text)?.unicodeScalars.elementsEqual(expected.unicodeScalars) == true)
        #expect(Nickname.prepared(expected)?.unicodeScalars.elementsEqual(expected.unicodeScalars) == true)
    }

    @Test(arguments: [
        "", " ", "\u{3000}", "a\u{202E}b", "a\u{200B}b", "\u{200D}", "a\u{0}", "a\nb", "a\u{2028}b", "\u{301}", "\u{FEFF}a", "a\u{E000}",
        "\u{2066}a",
        "a\u{AD}b", "\u{115F}",
    ])
    func invisibleAndDirectionalCharactersAreRefused(text: String) {
        #expect(Nickname.prepared(text) == nil)
    }

    @Test(arguments: [
        ("Foo", "foo"), ("Σ", "σ"), ("Zoë", "zoë"), ("ｶﾞ", "\u{30AC}"), ("\u{AC00}\u{11A8}", "\u{AC01}"), ("Ａ\u{30A}", "å"),
    ])
    func namesAreComparedInLowerCase(first: String, second: String) {
        #expect(Nickname.compared(first) == Nickname.compared(second))
    }

    @Test func readerPreparesAndCounts() throws {
        let fields: JSONObject = ["nick": "  A   B ", "empty": "", "spaces": "  ", "long": .string(String(repeating: "ﷺ", count: 6))]
        let reader = WireReader(fields)
        #expect(try reader.nickname("nick", maximum: 50) == "A B")
        #expect(try reader.nicknameIfPresent("none", maximum: 50) == nil)
        #expect(try reader.nickname("empty", orEmpty: true, maximum: 50) == "")
        #expect(throws: WireError.self) { try reader.nickname("empty", maximum: 50) }
        #expect(throws: WireError.self) { try reader.nickname("spaces", orEmpty: true, maximum: 50) }
        // The compatibility form of this scalar has 18 scalars.
        let error = #expect(throws: WireError.self) { try reader.nickname("long", maximum: 50) }
        #expect(error?.problem == .tooLarge)
    }
}

@Suite("Names that look alike (UTS 39)")
struct NameSkeletonTests {
    @Test(arguments: [
        ("Alice", "al1ce"), ("alice", "аlice"), ("alice", "ALlCE"), ("bob", "b0b"), ("Bob", "Вob"), ("modern", "rnodern"),
        ("william", "vvilliam"), ("alice", "a.l_i-c-e"), ("alice", "álíce"), ("alice", "ａｌｉｃｅ"), ("ocean", "οсеаn"), ("paypal", "раураl"),
        ("SHOP", "ЅНОР"), ("al ice", "alice"), ("alice", "al\u{200B}ice"), ("TED", "ᎢᎬᎠ"), ("noon", "ոօօո"),
    ])
    func namesLookAlike(first: String, second: String) {
        #expect(NameSkeleton.looksAlike(first, second))
        #expect(NameSkeleton.looksAlike(second, first))
    }

    @Test(arguments: [("alice", "bob"), ("alice", "alicia"), ("anna", "hanna"), ("张伟", "张为"), ("alice", "alice")])
    func namesDoNotLookAlike(first: String, second: String) {
        #expect(!NameSkeleton.looksAlike(first, second))
    }

    @Test func accountNamesAreCompared() throws {
        let first = try #require(UserName("alice")), second = try #require(UserName("al1ce"))
        #expect(NameSkeleton.looksAlike(first, second))
        #expect(!NameSkeleton.looksAlike(first, first))
    }
}
