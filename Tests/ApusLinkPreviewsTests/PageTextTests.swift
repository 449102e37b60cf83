import Testing

@testable import ApusLinkPreviews

/// The text of a page: its encoding, its character references, and the form in which it is shown.
@Suite struct PageTextTests {
    // MARK: Encodings

    /// Each case is the field `Content-Type`, the start of the page, and the text of its title; nil
    /// if the page has no preview. The title is the bytes 0x93, 0xE4 and 0x94.
    @Test(
        arguments: [
            ("text/html; charset=windows-1252", "", "“ä”"), ("text/html;charset=\"Windows-1252\"", "", "“ä”"),
            ("text/html; charset = latin1", "", "“ä”"), ("TEXT/HTML; CHARSET=CP1252", "", "“ä”"),
            ("text/html; charset=us-ascii", "", "“ä”"),
            ("text/html; charset=utf-8", "", nil), ("text/html", "", nil), (nil, "", nil), ("text/html; charset=gb18030", "", nil),
            ("text/html; charset=", "<meta charset=latin1>", "“ä”"), ("text/html", "<meta charset=\"iso-8859-1\">", "“ä”"),
            ("text/html", "<meta http-equiv=Content-Type content='text/html; charset=iso-8859-1'>", "“ä”"),
            // The field of the response takes precedence.
            ("text/html; charset=latin1", "<meta charset=utf-8>", "“ä”"), ("text/html; charset=utf-8", "<meta charset=latin1>", nil),
            // A charset without a value is not one.
            (nil, "<!-- the charset follows --><meta charset=latin1>", "“ä”"), (nil, "<meta name=charset><meta charset=latin1>", "“ä”"),
        ] as [(String?, String, String?)])
    func theFieldOrThePageDeterminesTheEncoding(contentType: String?, head: String, title: String?) {
        let bytes = Array(head.utf8) + Array("<title>".utf8) + [0x93, 0xE4, 0x94] + Array("</title>".utf8)
        #expect(PageFacts(bytes, contentType: contentType)?.title == title)
    }

    @Test func theEncodingIsFoundInTheFirstKilobyteOnly() {
        let meta = "<meta charset=latin1>"
        let title = Array("<title>".utf8) + [0xE4] + Array("</title>".utf8)
        let near = Array((String(repeating: " ", count: 1_024 - meta.utf8.count) + meta).utf8)
        #expect(PageFacts(near + title, contentType: nil)?.title == "ä")
        #expect(PageFacts(Array(String(repeating: " ", count: 1_024).utf8) + Array(meta.utf8) + title, contentType: nil) == nil)
    }

    /// A byte order mark takes precedence over all names.
    @Test func byteOrderMarksTakePrecedence() {
        let page = "<title>雨燕 🐦</title>"
        let utf8: [UInt8] = [0xEF, 0xBB, 0xBF] + Array(page.utf8)
        let little: [UInt8] = page.utf16.reduce(into: [0xFF, 0xFE]) { $0 += [UInt8($1 & 0xFF), UInt8($1 >> 8)] }
        let big: [UInt8] = page.utf16.reduce(into: [0xFE, 0xFF]) { $0 += [UInt8($1 >> 8), UInt8($1 & 0xFF)] }
        for bytes in [utf8, little, big, little + [0x3C], big + [0x00]] {
            for type in [nil, "text/html; charset=latin1", "text/html; charset=gbk"] as [String?] {
                #expect(PageFacts(bytes, contentType: type)?.title == "雨燕 🐦")
            }
        }
        #expect(PageFacts([0xEF, 0xBB, 0xBF], contentType: nil) == nil && PageFacts([0xFF, 0xFE, 0x3C], contentType: nil) == nil)
    }

    /// A page can be cut within a character. An invalid byte before the last three is an error.
    @Test(arguments: 0...8)
    func aTruncatedCharacterIsRemovedAtTheEndOnly(position: Int) {
        let page = Array("<title>t</title>".utf8)
        #expect(PageText.decode(page + Array("🐦".utf8.prefix(position % 4)), contentType: nil) == "<title>t</title>")
        var damaged = page + Array("🐦🐦".utf8)
        damaged[page.count + min(position, 4)] = 0xFF
        #expect(PageText.decode(damaged, contentType: nil) == nil)
    }

    @Test func everyByteOfWindows1252HasACharacter() throws {
        let text = try #require(PageText.decode((0x80...0xFF).map { UInt8($0) }, contentType: "text/plain; charset=windows-1252"))
        #expect(text.unicodeScalars.count == 128)
        #expect(String(text.unicodeScalars.prefix(16).map(Character.init)) == "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8D}Ž\u{8F}")
        #expect(String(text.unicodeScalars.dropFirst(16).prefix(16).map(Character.init)) == "\u{90}‘’“”•–—˜™š›œ\u{9D}žŸ")
        #expect(text.unicodeScalars.suffix(96).map(\.value) == Array(0xA0...0xFF))
    }

    // MARK: Character references

    @Test(
        arguments: [
            ("no reference", "no reference"), ("&", "&"), ("&&", "&&"), ("&;", "&;"), ("a & b; c", "a & b; c"), ("&amp", "&amp"),
            ("&amp;", "&"), ("&amp;amp;", "&amp;"), ("&amp;lt;b&amp;gt;", "&lt;b&gt;"), ("&lt;&gt;&quot;&apos;", "<>\"'"),
            ("&Auml;&auml;&szlig;&ntilde;", "Ää\u{DF}ñ"), ("&AMP;", "&AMP;"), ("&nosuch;", "&nosuch;"), ("&#65;&#x42;&#X43;", "ABC"),
            ("&#x1F426;", "🐦"), ("&#128038;", "🐦"), ("&#;", "&#;"), ("&#x;", "&#x;"), ("&#+65;", "&#+65;"), ("&#x+41;", "&#x+41;"),
            ("&#-1;", "&#-1;"), ("&#xD800;", "&#xD800;"), ("&#x110000;", "&#x110000;"), ("&#99999999999;", "&#99999999999;"),
            ("&#12345678901", "&#12345678901"), ("&am p;", "&am p;"), ("&a&amp;", "&a&"), ("&hellip;&mdash;&rsquo;", "…—’"),
            // Pages written for Windows use its code page in numbers, as browsers accept.
            ("&#146;&#150;&#x80;&#159;", "’–€Ÿ"), ("&#129;", "\u{81}"),
        ])
    func referencesAreDecodedOnce(text: String, decoded: String) { #expect(CharacterReferences.decoded(text) == decoded) }

    // MARK: Shown texts

    @Test(
        arguments: [
            ("a", 1, "a"), ("ab", 1, "…"), ("ab", 2, "ab"), ("abc", 2, "a…"), ("a b c", 5, "a b c"), ("a b cd", 5, "a b…"),
            ("a  b", 3, "a b"), ("ab cd", 4, "ab…"), ("ab cd", 3, "ab…"), ("abcd", 4, "abcd"), (" a ", 1, "a"), ("a\u{7}", 1, "a"),
            ("🐦🐦", 2, "🐦🐦"), ("🐦🐦🐦", 2, "🐦…"), ("a&amp;b", 3, "a&b"), ("a&nbsp;b", 3, "a b"),
        ])
    func aTextIsCutAtItsLimit(text: String, limit: Int, shown: String) { #expect(text.shown(limit: limit) == shown) }

    @Test(arguments: ["", " ", "\n\t\u{3000}", "\u{202E}\u{2066}", "\u{FEFF}", "&#8206;", "&#7;", "\u{E000}", "\u{10FFFF}"])
    func aTextWithoutVisibleCharactersIsNil(text: String) { #expect(text.shown(limit: 10) == nil) }

    /// Emoji sequences and the scripts of Persian and Indic languages need the joiners.
    @Test(arguments: ["👩‍💻", "می‌خواهم", "க்‍ஷ", "é", "e\u{301}", "🏴󠁧󠁢󠁥󠁮󠁧󠁿"])
    func joinersStay(text: String) { #expect(text.shown(limit: 30) == text) }

    @Test(arguments: 0x202A...0x202E as ClosedRange<UInt32>)
    func directionsAreRemoved(code: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(code))
        #expect("exe\(scalar)gpj".shown(limit: 10) == "exegpj" && "exe&#\(code);gpj".shown(limit: 10) == "exegpj")
    }
}
