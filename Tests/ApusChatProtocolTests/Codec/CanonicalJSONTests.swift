import ApusChatProtocol
import ApusJSON
import Testing

@Suite("Canonical JSON (RFC 8785)")
struct CanonicalJSONTests {
    private func canonical(_ text: String) throws -> String {
        String(decoding: try CanonicalJSON.bytes(of: try JSONReader.read(text)), as: UTF8.self)
    }

    /// RFC 8785 section 3.2.2 and appendix B.
    @Test(arguments: [
        ("333333333.33333329", "333333333.3333333"), ("1E30", "1e+30"), ("4.50", "4.5"), ("2e-3", "0.002"),
        ("0.000000000000000000000000001", "1e-27"), ("-0.0", "0"), ("5e-324", "5e-324"), ("-5e-324", "-5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"), ("9007199254740992", "9007199254740992"),
        ("-9007199254740992", "-9007199254740992"), ("295147905179352830000", "295147905179352830000"),
        ("9.999999999999997e22", "9.999999999999997e+22"), ("1e23", "1e+23"), ("1.0000000000000001e23", "1.0000000000000001e+23"),
        ("999999999999999700000", "999999999999999700000"), ("999999999999999900000", "999999999999999900000"), ("1e21", "1e+21"),
        ("9.999999999999997e-7", "9.999999999999997e-7"), ("0.000001", "0.000001"), ("333333333.3333332", "333333333.3333332"),
        ("333333333.33333325", "333333333.33333325"), ("-0.0000033333333333333333", "-0.0000033333333333333333"),
        ("1424953923781206.2", "1424953923781206.2"), ("1.0", "1"), ("100", "100"), ("1e2", "100"),
        ("9223372036854775807", "9223372036854776000"),
        ("0.1", "0.1"), ("123.456", "123.456"), ("1e-7", "1e-7"), ("12e-8", "1.2e-7"),
    ])
    func numbersHaveECMAScriptForm(text: String, expected: String) throws {
        #expect(try self.canonical(text) == expected)
    }

    /// RFC 8785 section 3.2.3.
    @Test func membersAreSortedByUTF16() throws {
        let text =
            #"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","#
            + #""1":"One","\ud83d\ude00":"Emoji","\u0080":"Control","\u00f6":"o"}"#
        let expected =
            "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"o\","
            + "\"€\":\"Euro Sign\",\"😀\":\"Emoji\",\"\u{FB33}\":\"Hebrew Letter Dalet With Dagesh\"}"
        #expect(try self.canonical(text) == expected)
    }

    /// RFC 8785 section 3.2.2, the example.
    @Test func exampleOfTheRFC() throws {
        let text = """
            {
              "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
              "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
              "literals": [null, true, false]
            }
            """
        let expected =
            #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#
        #expect(try self.canonical(text) == expected)
    }

    @Test func valuesWithoutATextAreErrors() {
        #expect(throws: JSONError.self) { try CanonicalJSON.bytes(of: .binary([1])) }
        #expect(throws: JSONError.self) { try CanonicalJSON.bytes(of: .double(.nan)) }
        #expect(throws: JSONError.self) { try CanonicalJSON.bytes(of: ["a": [.double(.infinity)]]) }
    }

    @Test func orderOfMembersDoesNotChangeTheHashOfASend() throws {
        func bytes(_ body: JSONObject, ref: Int64? = nil, isSilent: Bool = false) throws -> [UInt8] {
            let id = try #require(ClientID("m1"))
            return try SendRequest(
                id: id, conversation: ConversationID(number: 1), kind: .text, body: body, ref: ref, isSilent: isSilent
            ).hashedBytes()
        }
        let first = try bytes(["text": "a", "entities": []])
        #expect(try bytes(["entities": [], "text": "a"]) == first)
        #expect(try bytes(["text": "a", "entities": []], isSilent: true) == first)
        #expect(try bytes(["text": "b", "entities": []]) != first)
        #expect(try bytes(["text": "a", "entities": []], ref: 1) != first)
        #expect(first.first == SendRequest.hashVersion)
        // Canonically equivalent texts are different requests.
        #expect(try bytes(["text": "\u{E9}"]) != bytes(["text": "e\u{301}"]))
    }
}
