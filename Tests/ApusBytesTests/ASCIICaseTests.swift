import ApusBytes
import Testing

@Suite struct ASCIICaseTests {
    @Test func asciiLettersAreFolded() {
        #expect("WebSocket".equalsIgnoringASCIICase("websocket"))
        #expect("a1-Z"[...].equalsIgnoringASCIICase("A1-z"))
        #expect("".equalsIgnoringASCIICase(""))
        #expect(!"websocket".equalsIgnoringASCIICase("websocke"))
        // The bytes next to the letters, which differ from each other in the bit of the case.
        #expect(!"@[\\]^_".equalsIgnoringASCIICase("`{|}~\u{7F}"))
        #expect("KeeP".asciiLowercased == "keep")
        #expect("@Z[".asciiLowercased == "@z[")
    }

    @Test(arguments: [
        ("\u{212A}", "k"), ("\u{212A}", "K"), ("\u{37E}", ";"), ("\u{1FEF}", "`"), ("é", "e\u{301}"), ("É", "é"), ("ß", "SS"),
    ])
    func nothingElseIs(text: String, other: String) {
        #expect(!text.equalsIgnoringASCIICase(other))
        #expect(!text.hasSameBytes(as: other))
        #expect(text.asciiLowercased.hasSameBytes(as: text))
    }

    @Test func blanksAreTrimmed() {
        #expect(" \ta b\t ".trimmedOfBlanks == "a b")
        #expect(" \t ".trimmedOfBlanks == "")
        #expect("\u{A0}a\n".trimmedOfBlanks == "\u{A0}a\n")
        // A combining mark forms one character with the blank.
        #expect(" \u{301}a".trimmedOfBlanks.hasSameBytes(as: "\u{301}a"))
    }

    @Test func partsAreThoseBetweenBytes() {
        #expect("a;b;;c".split(atByte: ";") == ["a", "b", "", "c"])
        #expect("".split(atByte: ";") == [""])
        #expect("a\u{37E}b".split(atByte: ";").count == 1)
        #expect("a;\u{301}b".split(atByte: ";").count == 2)
    }
}
