import ApusJSON
import Testing

/// The grammar of RFC 8259, in the manner of JSONTestSuite: valid texts, and invalid ones with
/// their error code.
struct JSONReaderTests {
    @Test(
        arguments: [
            ("null", JSONValue.null), ("true", true), ("false", false), ("0", 0), (" \t\r\n1 \t\r\n", 1), ("\"\"", ""), ("[]", []),
            ("[ ]", []),
            ("{}", [:]), ("{ }", [:]), ("[1,2]", [1, 2]), ("[ 1 , 2 ]", [1, 2]), ("[[],[[]]]", [[], [[]]]), ("[null]", [nil]),
            ("{\"a\":1}", ["a": 1]), ("{ \"a\" : 1 , \"b\" : [ { } ] }", ["a": 1, "b": [[:]]]), ("{\"\":0}", ["": 0]),
            ("[\"a\",{\"b\":null},true]", ["a", ["b": nil], true]), ("\"\u{7F}\"", "\u{7F}"),
            ("\"\u{2028}\u{2029}\u{FEFF}\"", "\u{2028}\u{2029}\u{FEFF}"),
            ("[[[[[[[[1]]]]]]]]", [[[[[[[[1]]]]]]]]), ("\"/\"", "/"), ("\"a'b\"", "a'b"),
        ] as [(String, JSONValue)])
    func takes(text: String, value: JSONValue) throws {
        #expect(try JSONReader.read(text) == value)
    }

    @Test(
        arguments: [
            ("", JSONError.Code.unexpectedEnd), (" ", .unexpectedEnd), ("[", .unexpectedEnd), ("[1", .unexpectedEnd),
            ("[1,", .unexpectedEnd), ("{", .unexpectedEnd),
            ("{\"a\"", .unexpectedEnd), ("{\"a\":", .unexpectedEnd), ("{\"a\":1", .unexpectedEnd), ("{\"a\":1,", .unexpectedEnd),
            ("\"", .unexpectedEnd),
            ("\"abcdefgh", .unexpectedEnd), ("\"\\", .unexpectedEnd), ("tru", .unexpectedEnd), ("-", .unexpectedEnd),
            ("1.", .unexpectedEnd),
            ("1e", .unexpectedEnd), ("1e+", .unexpectedEnd), ("\"\\u00", .unexpectedEnd), ("]", .unexpectedByte), ("}", .unexpectedByte),
            (",", .unexpectedByte),
            (":", .unexpectedByte), ("[1,]", .unexpectedByte), ("[,1]", .unexpectedByte), ("[1,,2]", .unexpectedByte),
            ("[1 2]", .unexpectedByte),
            ("[1}", .unexpectedByte), ("{]", .unexpectedByte), ("{\"a\":1]", .unexpectedByte), ("{\"a\":1,}", .unexpectedByte),
            ("{,}", .unexpectedByte),
            ("{\"a\" 1}", .unexpectedByte), ("{\"a\"::1}", .unexpectedByte), ("{\"a\":}", .unexpectedByte), ("{a:1}", .unexpectedByte),
            ("{'a':1}", .unexpectedByte),
            ("{1:1}", .unexpectedByte), ("{null:1}", .unexpectedByte), ("'a'", .unexpectedByte), ("True", .unexpectedByte),
            ("TRUE", .unexpectedByte),
            ("nul!", .unexpectedByte), ("nullx", .unexpectedByte), ("NaN", .unexpectedByte), ("Infinity", .unexpectedByte),
            ("undefined", .unexpectedByte),
            ("[] []", .unexpectedByte), ("1 2", .unexpectedByte), ("[]]", .unexpectedByte), ("{}}", .unexpectedByte),
            ("\"a\"x", .unexpectedByte),
            ("\u{FEFF}[]", .unexpectedByte), ("\u{A0}1", .unexpectedByte), ("\u{0B}1", .unexpectedByte), ("\u{0C}1", .unexpectedByte),
            ("1\0", .unexpectedByte),
            ("/**/1", .unexpectedByte), ("1//", .unexpectedByte), ("#", .unexpectedByte), ("*", .unexpectedByte),
            ("[\"a\"", .unexpectedEnd), ("\"a\":1", .unexpectedByte),
            ("+1", .unexpectedByte), (".5", .unexpectedByte), ("0x1", .unexpectedByte), ("1_000", .unexpectedByte),
            ("1.0.0", .unexpectedByte), ("1e5e5", .unexpectedByte),
        ] as [(String, JSONError.Code)])
    func refuses(text: String, code: JSONError.Code) {
        #expect(throws: JSONError.self) { try JSONReader.read(text) }
        do { _ = try JSONReader.read(text) } catch { #expect(error.code == code, "\(text): \(error)") }
    }

    @Test func namesTheOffsetAndNotTheText() {
        let error = #expect(throws: JSONError.self) { try JSONReader.read("{\"secret\":1,x}") }
        #expect(error?.offset == 12)
        #expect(error?.description == "unexpectedByte: expected a name in quotes, found byte 0x78 (at byte 12)")
    }

    @Test(arguments: [1, 2, 128, 512])
    func depthIsBounded(limit: Int) throws {
        let limits = JSONReader.Limits(maximumDepth: limit)
        _ = try JSONReader.read(nested(limit), limits: limits)
        let error = #expect(throws: JSONError.self) { try JSONReader.read(nested(limit + 1), limits: limits) }
        #expect(error?.code == .tooDeep)
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":"])
    func hundredThousandLevelsAreAnErrorAndNoOverflow(opening: String) {
        let text = String(repeating: opening, count: 100_000)
        for limits in [JSONReader.Limits(), .init(maximumDepth: .max)] {
            let error = #expect(throws: JSONError.self) { try JSONReader.read(text, limits: limits) }
            #expect(error?.code == .tooDeep)
        }
    }

    @Test func depthLimitIsClamped() {
        var limits = JSONReader.Limits(maximumDepth: 0)
        #expect(limits.maximumDepth == 1)
        limits.maximumDepth = .max
        #expect(limits.maximumDepth == JSONReader.Limits.highestDepth)
    }

    @Test func readsEveryKindOfBytes() throws {
        let bytes = Array("[1,\"é\"]".utf8)
        let value: JSONValue = [1, "é"]
        #expect(try JSONReader.read(bytes) == value)
        #expect(try JSONReader.read(bytes[...]) == value)
        #expect(try JSONReader.read(bytes.lazy.map { $0 }) == value)
        #expect(try JSONReader.read("x[1,\"é\"]".dropFirst()) == value)
        #expect(try bytes.withUnsafeBytes { try JSONReader.read($0) } == value)
        #expect(try JSONReader.read([UInt8]("7".utf8)) == 7)
    }

    /// Every prefix of a text is an error, and no byte after it is read.
    @Test func everyPrefixIsRefused() {
        let text = Array("{\"name\":[1.5e3,\"\\ud83d\\ude00 é 漢字 😀 abcdefghijkl\",true,null]}".utf8)
        for count in text.indices {
            let error = #expect(throws: JSONError.self) { try JSONReader.read(text[..<count]) }
            #expect(error?.code == .unexpectedEnd || error?.code == .invalidUTF8 || error?.code == .loneSurrogate, "\(count)")
        }
    }

    @Test func repeatedNamesAreRefusedWhenAsked() throws {
        var limits = JSONReader.Limits()
        limits.refusesRepeatedNames = true
        let many = (0..<40).map { "\"\($0)\":0" }.joined(separator: ",")
        for text in [#"{"a":1,"a":1}"#, #"[{"b":{"a":1,"c":2,"a":3}}]"#, "{\(many),\"7\":1}", #"{"a":1,"\u0061":2}"#] {
            let error = #expect(throws: JSONError.self) { try JSONReader.read(text, limits: limits) }
            #expect(error?.code == .repeatedName)
            _ = try JSONReader.read(text)
        }
        #expect(try JSONReader.read(#"{"a":{"b":1},"b":2}"#, limits: limits) == ["a": ["b": 1], "b": 2])
        _ = try JSONReader.read("{\(many)}", limits: limits)
    }

    private func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
}
