import ApusJSON
import Testing

private func outline(_ text: String, maximumDepth: Int = 128) throws -> JSONArrayOutline.Finding {
    try Array(text.utf8).withUnsafeBytes { try JSONArrayOutline.find(in: $0, limits: .init(maximumDepth: maximumDepth)) }
}

private func elements(_ text: String) -> [JSONValue] {
    Array(text.utf8).withUnsafeBytes { bytes in
        var elements = JSONElements(bytes, limits: .init())
        var found: [JSONValue] = []
        while let element = try? elements.next() { found.append(element) }
        return found
    }
}

@Suite struct JSONArrayOutlineTests {
    @Test(arguments: [
        (text: #"["a"]"#, first: #""a""#, rest: ""),
        (#" [ "a" , 1 , [2,3] ] "#, #""a""#, "1 , [2,3]"),
        (#"["a]\"",{"b":[1,{}],"c":null},-1.5e3,true]"#, #""a]\"""#, #"{"b":[1,{}],"c":null},-1.5e3,true"#),
        (#"[7,"\u00e9\ud83d\ude00"]"#, "7", #""\u00e9\ud83d\ude00""#),
    ])
    func elementsAreFound(text: String, first: String, rest: String) throws {
        guard case .array(let outline) = try outline(text) else {
            Issue.record("no array")
            return
        }
        let bytes = Array(text.utf8)
        #expect(String(decoding: bytes[outline.first], as: UTF8.self) == first)
        #expect(String(decoding: bytes[outline.rest], as: UTF8.self) == rest)
        #expect(outline.firstIsPlain == (first.first == "\"" && !first.contains("\\")))
        let all = String(decoding: bytes[outline.all], as: UTF8.self)
        #expect(JSONValue.array(elements(all)) == (try JSONReader.read(text)))
    }

    @Test(arguments: ["[]", " [ ] "]) func anEmptyArrayHasNone(text: String) throws {
        #expect(try outline(text) == .emptyArray)
    }

    @Test(arguments: ["{}", #"{"a":[1]}"#, "1", "null", #""[1]""#]) func otherValuesHaveNoOutline(text: String) throws {
        #expect(try outline(text) == .other)
    }

    /// One invalid text of each kind, which the reader rejects too.
    @Test(arguments: [
        "", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]x", "[01]", "[1.]", "[1e]", "[1e999]", "[tru]", "[\"a]", #"["\x"]"#,
        #"["\ud800"]"#,
        "[\"\u{1}\"]", #"[{"a"}]"#, #"[{"a":}]"#, #"[{"a":1,}]"#, #"[{a:1}]"#, "[[1]", "{", #"{"a":1"#,
    ])
    func textsRefusedByTheReaderAreRefused(text: String) throws {
        let error = #expect(throws: JSONError.self) { try JSONReader.read(text) }
        #expect(throws: try #require(error)) { try outline(text) }
    }

    @Test func invalidUTF8IsRefused() {
        #expect(throws: JSONError.self) {
            try ([0x5B, 0x22, 0xC0, 0x80, 0x22, 0x5D] as [UInt8]).withUnsafeBytes { try JSONArrayOutline.find(in: $0, limits: .init()) }
        }
    }

    @Test func depthIsBounded() throws {
        #expect(try outline("[[[]]]", maximumDepth: 3) != .other)
        #expect(throws: JSONError.self) { try outline("[[[[]]]]", maximumDepth: 3) }
        #expect(throws: JSONError.self) { try outline(#"[[[{}]]]"#, maximumDepth: 3) }
    }

    @Test func repeatedNamesAreRefusedWhereTheyAre() throws {
        var limits = JSONReader.Limits()
        limits.refusesRepeatedNames = true
        #expect(throws: JSONError.self) {
            try Array(#"[{"a":1,"a":2}]"#.utf8).withUnsafeBytes { try JSONArrayOutline.find(in: $0, limits: limits) }
        }
    }
}
