import ApusJSON
import Testing

struct JSONStringReadingTests {
    @Test(
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041""#, "A"), (#""\u00e9\u00E9""#, "éé"), (#""\u0000""#, "\0"),
            (#""\uffff""#, "\u{FFFF}"),
            (#""\uFFFD""#, "\u{FFFD}"), (#""\ud83d\ude00""#, "😀"), (#""\uD800\uDC00""#, "\u{10000}"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
            (#""a\nb\nc""#, "a\nb\nc"), (#""12345678\"""#, "12345678\""), (#""1234567\\8""#, "1234567\\8"), (#""\\u0041""#, "\\u0041"),
            (#""漢字😀é""#, "漢字😀é"), (#""1234567漢12345678""#, "1234567漢12345678"), (#""漢\n字""#, "漢\n字"),
            (
                "\"\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}\"",
                "\u{80}\u{7FF}\u{800}\u{D7FF}\u{E000}\u{FFFF}\u{10000}\u{10FFFF}"
            ),
        ] as [(String, String)])
    func takes(text: String, value: String) throws {
        let read = try #require(try JSONReader.read(text).stringValue)
        #expect(Array(read.utf8) == Array(value.utf8))
    }

    @Test(
        arguments: [
            (#""\ud800""#, JSONError.Code.loneSurrogate), (#""\udc00""#, .loneSurrogate), (#""\ud800\ud800""#, .loneSurrogate),
            (#""\ud800x""#, .loneSurrogate),
            (#""\ud800\n""#, .loneSurrogate), (#""\udc00\ud800""#, .loneSurrogate), (#""\ud83d\u0041""#, .loneSurrogate),
            (#""\ud83d\""#, .loneSurrogate),
            (#""\u12""#, .invalidEscape), (#""\u12G4""#, .invalidEscape), (#""\u 123""#, .invalidEscape), (#""\U0041""#, .invalidEscape),
            (#""\x41""#, .invalidEscape), (#""\a""#, .invalidEscape), (#""\'""#, .invalidEscape), (#""\0""#, .invalidEscape),
            ("\"\\\n\"", .invalidEscape),
            (#""\ud83d\ude""#, .invalidEscape), ("\"\n\"", .controlCharacter), ("\"\0\"", .controlCharacter),
            ("\"\u{1F}\"", .controlCharacter),
            ("\"12345678\t\"", .controlCharacter), ("\"1234567\r8\"", .controlCharacter), ("\"\\\u{e9}\"", .invalidEscape),
        ] as [(String, JSONError.Code)])
    func refuses(text: String, code: JSONError.Code) {
        let error = #expect(throws: JSONError.self) { try JSONReader.read(text) }
        #expect(error?.code == code)
    }

    /// JavaScript writes these for a text that is cut within an emoji.
    @Test(
        arguments: [
            (#""\ud83d""#, "\u{FFFD}"), (#""\ude00""#, "\u{FFFD}"), (#""a\uD83Db""#, "a\u{FFFD}b"),
            (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"), (#""\ud83d\u0041""#, "\u{FFFD}A"), (#""\ud83d\n""#, "\u{FFFD}\n"),
            (#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}"), (#""\ud83d\ude00""#, "😀"),
        ] as [(String, String)])
    func replacesLoneSurrogatesWhenAsked(text: String, value: String) throws {
        let limits = JSONReader.Limits(loneSurrogates: .replace)
        let read = try #require(try JSONReader.read(text, limits: limits).stringValue)
        #expect(Array(read.utf8) == Array(value.utf8))
        #expect(try JSONReader.read("{\(text):1}", limits: limits)[value] == 1)
        _ = try Array("[\(text)]".utf8).withUnsafeBytes { try JSONArrayOutline.find(in: $0, limits: limits) }
    }

    @Test(arguments: [#""\ud83d\u12""#, #""\ud83d\"#, #""\ud83d"#, #""\ud83d\ux""#])
    func replacesNothingThatIsMalformed(text: String) {
        #expect(throws: JSONError.self) { try JSONReader.read(text, limits: .init(loneSurrogates: .replace)) }
    }

    /// Byte sequences that table 3-7 of the Unicode Standard (well-formed UTF-8) excludes, and
    /// examples of RFC 3629 section 10.
    @Test(
        arguments: [
            [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xE0, 0x80, 0x80], [0xE0, 0x9F, 0xBF], [0xE4, 0xBD],
            [0xE4, 0xBD, 0x41],
            [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x80, 0x80, 0x80], [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98],
            [0xF0, 0x9F, 0x98, 0x41],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF], [0xE4, 0xC0, 0x80], [0xC3, 0xA9, 0xA9],
        ] as [[UInt8]])
    func refusesInvalidUTF8(bytes: [UInt8]) {
        for padding in 0..<9 {  // at every offset in a word, and after an escape
            for prefix in ["", "\\n"] {
                let text = [0x22] + Array(prefix.utf8) + Array(repeating: 0x61, count: padding) + bytes + [0x22]
                let error = #expect(throws: JSONError.self) { try JSONReader.read(text) }
                #expect(error?.code == .invalidUTF8)
            }
        }
        #expect(throws: JSONError.self) { try JSONReader.read([0x22] + bytes) }
    }

    @Test func findsTheSpecialByteAtEveryPlaceOfAWord() throws {
        for length in 0..<80 {
            let plain = String(repeating: "~", count: length)
            #expect(try JSONReader.read("\"\(plain)\"").stringValue == plain)
            #expect(try JSONReader.read("\"\(plain)\\n\(plain)\"").stringValue == plain + "\n" + plain)
            #expect(try JSONReader.read("\"\(plain)é\(plain)\"").stringValue == plain + "é" + plain)
            #expect(throws: JSONError.self) { try JSONReader.read("\"\(plain)\u{1}\(plain)\"") }
        }
    }

    @Test func everyByteAfterAQuoteIsTreatedAlikeInAWordAndAtTheEnd() {
        for byte in UInt8.min...UInt8.max {
            let short = try? JSONReader.read([0x22, byte, 0x22])
            let long = try? JSONReader.read([0x22, byte] + Array("1234567890".utf8) + [0x22])
            if byte != 0x22 { #expect((short == nil) == (long == nil), "\(byte)") }
            #expect((short != nil) == (byte >= 0x20 && byte < 0x80 && byte != 0x22 && byte != 0x5C), "\(byte)")
        }
    }
}
