import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Testing

/// The bodies of applications, and the names of their kinds.
@Suite("Bodies of applications")
struct CustomBodyTests {
    private static let kind = EventKind(rawValue: "x.game.move")

    // MARK: Names

    @Test(arguments: [
        ("x.a", true), ("x.0", true), ("x..", true), ("x.-", true), ("x._", true), ("x.a.b_c-d", true),
        ("x." + String(repeating: "a", count: 62), true),
        ("x." + String(repeating: "a", count: 63), false), ("x.", false), ("x", false), ("X.a", false), ("x.A", false), ("x.a b", false),
        ("x.é", false),
        ("x.鸟", false), ("x.a/b", false), ("x.a\u{301}", false), (" x.a", false), ("x.a\n", false), ("y.a", false), ("xa.b", false),
        ("", false),
    ])
    func anApplicationHasItsOwnNames(name: String, isCustom: Bool) {
        let kind = EventKind(rawValue: name)
        #expect((kind.code == .custom(name)) == isCustom && kind.isMessage == isCustom && kind.isKnown == isCustom)
        #expect(kind.rawValue == name && EventKind(rawValue: name) == kind)
        #expect((Wire.refusal(kind, body: [:]) == nil) == isCustom)
    }

    /// The names of this version are compared exactly: another case is a kind of a later version.
    @Test(arguments: EventKind.table.map(\.name)) func aNameIsExact(name: String) {
        for other in [name.uppercased(), name + " ", " " + name, name + ".", name + "\u{301}", "x" + name] {
            let kind = EventKind(rawValue: other)
            #expect(kind.code == .other(other) && !kind.isMessage && !kind.isKnown && kind.rawValue == other, "\(other)")
        }
    }

    @Test func messagesAreTheKindsWithAnOrdinal() {
        let messages = ["text", "image", "audio", "video", "file", "location", "card", "call", "poll", "bundle", "encrypted"]
        #expect(EventKind.table.filter { EventKind($0.code).isMessage }.map(\.name) == messages)
        #expect(EventKind.table.filter { EventKind($0.code).repeatsContent }.map(\.name) == ["edit", "preview"])
        #expect(ChatKinds.sendable.map(\.rawValue) == ["text", "image", "audio", "video", "file", "location", "card", "poll"])
        #expect(ChatKinds.editable.map(\.rawValue) == ["text", "image", "audio", "video", "file"])
    }

    // MARK: Fields

    @Test(
        arguments: [
            .invalid("text", 7, Rule.string), .invalid("text", ["x"], Rule.string),
            .tooLarge("text", Wire.text(8_001), Rule.scalars(8_000)),
            .invalid("blobs", "x", Rule.array), .invalid("blobs", ["x"], at: "blobs[0]", Rule.blob),
            .invalid("blobs", [Wire.hash, ""], at: "blobs[1]", Rule.blob), .tooLarge("blobs", Wire.list(Wire.hash, 21), Rule.elements(20)),
        ] as [Refusal])
    func aBodyNamesItsWrongField(refusal: Refusal) { refusal.check(Self.kind, body: ["board": [1, 2]]) }

    /// The size and the nesting concern the whole body.
    @Test func aBodyBeyondItsSizeIsNamed() {
        let large = WireError(.tooLarge, field: "body", rule: "must have at most 32768 bytes")
        #expect(Wire.refusal(Self.kind, body: ["a": .string(String(repeating: "a", count: 32_768 - 8))]) == nil)
        #expect(Wire.refusal(Self.kind, body: ["a": .string(String(repeating: "a", count: 32_768 - 7))]) == large)
        var nested: JSONValue = []
        for _ in 0..<31 { nested = [nested] }
        let deep = WireError(.tooLarge, field: "body", rule: "must have at most 32 levels of arrays and objects")
        #expect(Wire.refusal(Self.kind, body: ["a": nested]) == deep)
        #expect(Wire.refusal(Self.kind, body: ["a": nested.arrayValue?.first ?? .null]) == nil)
    }

    /// Everything else is kept: unknown fields, nulls, the order of lists, and fields with the
    /// names of the server's.
    @Test(
        arguments: [
            [:], ["forwarded": ["at": 1]], ["preview": nil], ["text": ""], ["text": nil], ["entities": "x"], ["": [:]], ["blobs": []],
            ["e\u{301}": 1, "\u{E9}": 2], ["n": [1, 1.5, -0.0, 1e300, nil, true, "", []]],
        ] as [JSONObject])
    func theOtherFieldsAreKept(body: JSONObject) throws {
        let accepted = try ChatKinds.accept(kind: Self.kind, body: body)
        #expect(accepted.fields == body && accepted.mentions.isEmpty && !accepted.mentionsAll && accepted.blobs.isEmpty)
        #expect(try ChatBody(kind: Self.kind, body: accepted.fields).fields == body)
    }

    /// The number of levels of random bodies, compared with a recursive definition.
    @Test func theNestingIsThatOfTheDefinition() {
        func levels(_ value: JSONValue) -> Int {
            switch value {
            case .object(let object): 1 + (object.map { levels($0.value) }.max() ?? 0)
            case .array(let elements): 1 + (elements.map(levels).max() ?? 0)
            default: 0
            }
        }
        var generator = SplitMix64(state: 101)
        var accepted = 0, refused = 0
        for _ in 0..<2_000 {
            var value: JSONValue = [1, "x", [], [:], nil].randomElement(using: &generator) ?? nil
            for _ in 0..<Int.random(in: 26..<36, using: &generator) {
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: value = [value]
                case 1: value = ["a": value]
                case 2: value = [1, [], value, "x"]
                default: value = ["a": [:], "b": value, "c": 1]
                }
            }
            let body: JSONObject = ["a": value]
            let isAllowed = levels(.object(body)) <= 32
            #expect((Wire.refusal(Self.kind, body: body) == nil) == isAllowed)
            if isAllowed { accepted += 1 } else { refused += 1 }
        }
        #expect(accepted > 300 && refused > 300)
    }
}
