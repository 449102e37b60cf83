import Testing

@testable import ApusChatServer

/// The limits of the forms, and forms that are damaged.
@Suite("Limits of legacy forms")
struct LegacyFormLimitTests {
    private static let form = "application/x-www-form-urlencoded"
    private static let type = "multipart/form-data; boundary=x1"

    private static func fields(_ text: String) -> [String: String] { LegacyForm.fields(Array(text.utf8), contentType: Self.form) }

    private static func part(_ bytes: [UInt8], type: String = Self.type) -> [UInt8]? {
        LegacyForm.part("image", of: bytes, contentType: type)
    }

    private static func part(_ text: String, type: String = Self.type) -> String? {
        Self.part(Array(text.utf8), type: type).map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: Fields

    @Test(arguments: [(31, 31), (32, 32), (33, 32), (1_000, 32)]) func aFormHasAtMostThirtyTwoFields(count: Int, read: Int) {
        let fields = Self.fields((0..<count).map { "f\($0)=v\($0)" }.joined(separator: "&"))
        #expect(fields == Dictionary(uniqueKeysWithValues: (0..<read).map { ("f\($0)", "v\($0)") }))
    }

    @Test(
        arguments: [
            ("a=%E5%9C%A8", "在"), ("a=%e5%9c%a8", "在"), ("a=%FF", "\u{FFFD}"), ("a=%F0%9F%98%80", "😀"), ("a=%00", "\u{0}"),
            ("a=%2", "%2"), ("a=%", "%"), ("a=%G0", "%G0"), ("a=%%20", "% "), ("a=1+2", "1 2"), ("a=1%2B2", "1+2"), ("a=%26b%3D1", "&b=1"),
            ("a=在", "在"), ("a=", ""), ("a", ""), ("a=x&a=y", "y"),
        ])
    func aValueIsDecoded(form: String, value: String) { #expect(Self.fields(form) == ["a": value]) }

    @Test(arguments: [#"{"a":"x","b":5,"c":null,"d":["x"],"e":{"f":"g"}}"#]) func onlyTextsOfAnObjectAreFields(text: String) {
        #expect(LegacyForm.fields(Array(text.utf8), contentType: "Application/JSON") == ["a": "x"])
    }

    @Test(arguments: ["[", "{\"a\":", "\"a\"", "null", "{\"a\":\"x\"}{}", String(repeating: "[", count: 20_000)])
    func damagedJSONHasNoFields(text: String) { #expect(LegacyForm.fields(Array(text.utf8), contentType: "application/json") == [:]) }

    // MARK: Parts

    private static func header(_ name: String) -> String { "--x1\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n" }

    @Test(arguments: [(31, true), (32, false)]) func thePartIsAmongTheFirstThirtyTwo(before: Int, isFound: Bool) {
        let others = (0..<before).map { Self.header("other\($0)") + "no\r\n" }.joined()
        #expect(Self.part(others + Self.header("image") + "yes\r\n--x1--\r\n") == (isFound ? "yes" : nil))
    }

    @Test(arguments: [(2_048, true), (2_049, false)]) func theHeaderOfAPartHasALimit(bytes: Int, isFound: Bool) {
        let start = "\r\nContent-Disposition: form-data; name=image\r\nX: "
        let header = start + String(repeating: "x", count: bytes - start.utf8.count)
        #expect((Self.part("--x1" + header + "\r\n\r\nyes\r\n--x1--") != nil) == isFound)
    }

    @Test(arguments: [(1, true), (70, true), (71, false)]) func theBoundaryHasALimit(length: Int, isFound: Bool) {
        let boundary = String(repeating: "b", count: length)
        let body = "--\(boundary)\r\nContent-Disposition: form-data; name=image\r\n\r\nyes\r\n--\(boundary)--"
        #expect((Self.part(body, type: "multipart/form-data; boundary=\(boundary)") == "yes") == isFound)
    }

    @Test(
        arguments: [
            "multipart/form-data; boundary=x1", "Multipart/Form-Data; Boundary=x1", "multipart/form-data;boundary=x1",
            "multipart/form-data; charset=utf-8; boundary=\"x1\"", "multipart/form-data;\tboundary = x1",
        ])
    func theBoundaryIsAParameter(type: String) { #expect(Self.part(Self.header("image") + "yes\r\n--x1--", type: type) == "yes") }

    /// The content is any bytes, with line ends and texts that resemble the boundary.
    @Test func theContentIsReturnedUnchanged() {
        for content in [
            Array(0...255), [], [0x0D, 0x0A], Array("\r\n--x".utf8), Array("\r\n\r\n".utf8), Array("\r\r\n-".utf8),
            Array(repeating: 0x0D, count: 1_000), Array("\n--x1".utf8),
        ] as [[UInt8]] {
            let body = Array(Self.header("image").utf8) + content + Array("\r\n--x1--\r\n".utf8)
            #expect(Self.part(body) == content)
        }
    }

    @Test(
        arguments: [
            #"form-data; name="image""#, #"form-data; name=image"#, #"form-data;name="image""#, #"form-data; filename="a"; name="image""#,
            #"attachment; name="image""#,
        ])
    func aPartIsFoundByItsName(disposition: String) {
        for name in ["Content-Disposition", "content-disposition", "CONTENT-DISPOSITION"] {
            #expect(Self.part("--x1\r\nX: y\r\n\(name): \(disposition)\r\n\r\nyes\r\n--x1--") == "yes")
        }
    }

    @Test(
        arguments: [
            #"form-data; name="Image""#, #"form-data; name="image2""#, #"form-data; filename="image""#, #"form-data"#, "",
            #"form-data; name='image'"#,
        ])
    func anotherNameIsNotThePart(disposition: String) {
        #expect(Self.part("--x1\r\nContent-Disposition: \(disposition)\r\n\r\nno\r\n--x1--") == nil)
    }

    /// A form of which only the beginning arrived has no part, at whichever byte it ends.
    @Test func aFormThatEndsEarlyHasNoPart() {
        let whole = Array((Self.header("other") + "no\r\n" + Self.header("image") + "yes\r\n--x1").utf8)
        #expect(Self.part(whole) == Array("yes".utf8))
        for count in 0..<whole.count { #expect(Self.part(Array(whole.prefix(count))) == nil, "\(count)") }
    }

    /// Bytes that repeat the first byte of the boundary are searched in linear time.
    @Test func aLongFormWithoutTheBoundaryIsSearchedOnce() {
        #expect(Self.part(Array(repeating: UInt8(ascii: "-"), count: 1 << 20)) == nil)
        #expect(Self.part(Array(Self.header("image").utf8) + Array(repeating: 0x0D, count: 1 << 20)) == nil)
    }
}
