import Testing

@testable import ApusChatServer

@Suite struct LegacyFormTests {
    private static let forms: [(text: String, type: String, expected: [String: String])] = [
        ("userName=alice&password=a%20b%2Bc+d", "application/x-www-form-urlencoded", ["userName": "alice", "password": "a b+c d"]),
        ("a=%&b=%4&c=%zz&d", "", ["a": "%", "b": "%4", "c": "%zz", "d": ""]), ("a=1=2&&=x", "", ["a": "1=2", "": "x"]),
        (#"{"userName":"alice","password":5}"#, "application/json; charset=utf-8", ["userName": "alice"]),
        ("[1]", "application/json", [:]), ("{", "application/json", [:]), ("", "", [:]),
    ]

    @Test(arguments: Self.forms)
    func readsFields(text: String, type: String, expected: [String: String]) {
        #expect(LegacyForm.fields(Array(text.utf8), contentType: type) == expected)
    }

    private static let type = "multipart/form-data; boundary=\"x1\""

    private static func part(_ header: String, _ content: String) -> String {
        "--x1\r\nContent-Disposition: form-data; \(header)\r\nContent-Type: text/html\r\n\r\n\(content)\r\n"
    }

    private static let long = "--x1\r\n" + String(repeating: "a", count: 9_000) + "\r\n\r\ndata\r\n--x1--"
    private static let parts: [(text: String, expected: String?)] = [
        (Self.part(#"name="image"; filename="a.html""#, "data") + "--x1--\r\n", "data"),
        (Self.part(#"name="other""#, "no") + Self.part("name=image", "a\r\n--x2\r\nb") + "--x1--", "a\r\n--x2\r\nb"),
        (Self.part(#"name="image""#, "") + "--x1--", ""),
        (Self.part(#"name="images""#, "no") + "--x1--", nil),
        // Parts without a closing boundary.
        (Self.part(#"name="image""#, "data"), nil),
        ("--x1\r\n\r\n", nil), ("--x1", nil), ("", nil),
        (Self.long, nil),
    ]

    @Test(arguments: Self.parts)
    func readsAPart(text: String, expected: String?) {
        let part = LegacyForm.part("image", of: Array(text.utf8), contentType: Self.type)
        #expect(part.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test(arguments: ["multipart/form-data", "multipart/form-data; boundary=", "text/plain; boundary=x1", ""])
    func needsABoundary(type: String) {
        #expect(LegacyForm.part("image", of: Array((Self.part(#"name="image""#, "a") + "--x1--").utf8), contentType: type) == nil)
    }

    @Test(arguments: [
        ("alice", true), ("Ali_ce9", true), ("abcd", true), ("abc", false), ("abcdefghijklmno", true), ("abcdefghijklmnop", false),
        ("_alice", false), ("alice_", false), ("ali ce", false), ("álice", false), ("<b>x</b>", false), ("", false),
    ])
    func namesHaveTheRuleOfTheApps(name: String, isValid: Bool) { #expect(LegacyServer.isName(name) == isValid) }
}
