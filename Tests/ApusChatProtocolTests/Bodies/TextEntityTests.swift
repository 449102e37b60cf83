import ApusChatProtocol
import ApusJSON
import Testing

@Suite("Entities of texts")
struct TextEntityTests {
    private func entity(_ kind: TextEntityKind, _ offset: Int64, _ length: Int64) -> TextEntity {
        TextEntity(
            kind: kind, offset: offset, length: length, url: kind == .link ? "https://example.org" : nil,
            user: kind == .mention ? UserName("bob") : nil)
    }

    private func problem(_ entities: [TextEntity], of text: String?) -> WireError? {
        do throws(WireError) {
            try EntityRule.validate(entities, of: text)
            return nil
        } catch { return error }
    }

    @Test func nestedAndSeparateRangesAreValid() {
        let text = "Hello 🐦 world"
        #expect(self.problem([], of: nil) == nil)
        #expect(self.problem([self.entity(.bold, 0, 13)], of: text) == nil)
        #expect(self.problem([self.entity(.bold, 0, 7), self.entity(.italic, 0, 7), self.entity(.code, 6, 1)], of: text) == nil)
        #expect(self.problem([self.entity(.bold, 0, 5), self.entity(.italic, 6, 1), self.entity(.strike, 8, 5)], of: text) == nil)
        #expect(self.problem([self.entity(.quote, 0, 13), self.entity(.list, 0, 5), self.entity(.list, 6, 7)], of: text) == nil)
    }

    @Test func rangesThatCrossAreRefused() {
        let error = self.problem([self.entity(.bold, 0, 5), self.entity(.italic, 3, 5)], of: "Hello world")
        #expect(error?.field == "entities[1].length" && error?.problem == .invalid)
        let deep = self.problem([self.entity(.bold, 0, 8), self.entity(.code, 1, 3), self.entity(.italic, 2, 4)], of: "Hello world")
        #expect(deep?.field == "entities[2].length")
    }

    @Test func rangesAreOrdered() {
        #expect(self.problem([self.entity(.bold, 3, 1), self.entity(.bold, 0, 1)], of: "Hello")?.field == "entities[1].offset")
    }

    /// The emoji is one scalar and two UTF-16 code units. The accent is a separate scalar.
    @Test(arguments: [("🐦", Int64(1)), ("e\u{301}", 2), ("ab", 2), ("", 0)])
    func lengthsAreInScalars(text: String, count: Int64) {
        if count > 0 { #expect(self.problem([self.entity(.bold, 0, count)], of: text) == nil) }
        #expect(self.problem([self.entity(.bold, 0, count + 1)], of: text)?.field == "entities[0].length")
        #expect(self.problem([self.entity(.bold, count, 1)], of: text)?.field == "entities[0].length")
    }

    @Test func numbersOfAnAttackerDoNotOverflow() {
        #expect(self.problem([self.entity(.bold, .max, .max)], of: "a") != nil)
        #expect(self.problem([self.entity(.bold, -1, 2)], of: "a") != nil)
        #expect(self.problem([self.entity(.bold, 0, 0)], of: "a") != nil)
        #expect(self.problem([self.entity(.bold, 0, 1)], of: nil) != nil)
    }

    @Test func valuesBelongToTheirKinds() {
        let bob = UserName("bob")
        #expect(self.problem([TextEntity(kind: .link, offset: 0, length: 1)], of: "a")?.field == "entities[0].url")
        #expect(self.problem([TextEntity(kind: .mention, offset: 0, length: 1)], of: "a")?.field == "entities[0].user")
        #expect(self.problem([TextEntity(kind: .bold, offset: 0, length: 1, url: "https://a.b")], of: "a")?.field == "entities[0].url")
        #expect(self.problem([TextEntity(kind: .bold, offset: 0, length: 1, user: bob)], of: "a")?.field == "entities[0].user")
        #expect(self.problem([TextEntity(kind: .code, offset: 0, length: 1, language: "c")], of: "a")?.field == "entities[0].language")
        #expect(self.problem([TextEntity(kind: .pre, offset: 0, length: 1, language: "c")], of: "a") == nil)
        #expect(self.problem([TextEntity(kind: .unknown, offset: 0, length: 1)], of: "a")?.problem == .unsupported)
    }

    @Test func mentionsAreLimited() {
        let text = String(repeating: "a", count: ChatLimits.mentions + 1)
        let mentions = text.indices.enumerated().map { self.entity(.mention, Int64($0.offset), 1) }
        #expect(self.problem(Array(mentions.dropLast()), of: text) == nil)
        #expect(self.problem(mentions, of: text)?.problem == .tooLarge)
    }

    @Test(arguments: [
        "https://example.org", "http://a", "HTTPS://EXAMPLE.ORG/?q=%20#x", "mailto:a@example.org", "tel:+49123", "xmpp:a@example.org",
        "https://例え.jp/道",
    ])
    func addressesThatClientsOpen(url: String) {
        #expect(EntityRule.isSafe(url))
    }

    @Test(arguments: [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", " javascript:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "vbscript:x",
        "file:///etc",
        "//example.org", "/path", "example.org", "", ":", "https:", "https://a b", "https://a\u{0}b", "https://a\u{202E}b", "https://a\"b",
        "https://a<b>", "blob:https://a", "about:blank", "https://a\\b", "https\u{200B}://a",
    ])
    func otherAddressesAreRefused(url: String) {
        #expect(!EntityRule.isSafe(url))
    }

    @Test func unknownKindsOfLaterServersAreRead() throws {
        let read = try TextEntity(json: ["type": "sparkle", "offset": 0, "length": 1])
        #expect(read.kind == .unknown)
    }
}
