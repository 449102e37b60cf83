import ApusChatProtocol
import ApusJSON
import ApusSeededRandom
import Testing

/// Random entities, compared with the definition of nested ranges.
@Suite("Entities of any text")
struct EntityPropertyTests {
    /// Returns whether the ranges are within a text, in order of their starts, and any two of them
    /// are separate or one inside of the other.
    private func isNested(_ entities: [TextEntity], in count: Int64) -> Bool {
        for (index, one) in entities.enumerated() {
            guard one.offset >= 0, one.length > 0, one.offset <= count, one.length <= count - one.offset else { return false }
            for other in entities[..<index] {
                let end = one.offset + one.length, otherEnd = other.offset + other.length
                guard other.offset <= one.offset, one.offset >= otherEnd || end <= otherEnd else { return false }
            }
        }
        return true
    }

    private func problem(_ entities: [TextEntity], of text: String) -> WireError? {
        do throws(WireError) {
            try EntityRule.validate(entities, of: text)
            return nil
        } catch { return error }
    }

    @Test func rangesAreAcceptedIfTheyAreNested() {
        var generator = SplitMix64(state: 61)
        let text = "a🐦e\u{301}\u{200D}\n x"
        let count = Int64(text.unicodeScalars.count)
        let kinds: [TextEntityKind] = [.bold, .italic, .code, .quote, .list, .hashtag, .all, .spoiler]
        var accepted = 0
        for _ in 0..<20_000 {
            let entities = (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                TextEntity(
                    kind: kinds.randomElement(using: &generator) ?? .bold, offset: Int64.random(in: -1...count, using: &generator),
                    length: Int64.random(in: 0...count, using: &generator))
            }
            let isNested = self.isNested(entities, in: count)
            if isNested { accepted += 1 }
            let error = self.problem(entities, of: text)
            #expect((error == nil) == isNested, "\(entities)")
            // The first wrong entity is named.
            if let error, let end = error.field.firstIndex(of: "]"), let index = Int(error.field[..<end].dropFirst("entities[".count)) {
                #expect(self.isNested(Array(entities[..<index]), in: count) && !self.isNested(Array(entities[...index]), in: count))
            }
        }
        #expect(accepted > 1_000)
    }

    @Test func theNumberOfEntitiesIsLimited() throws {
        let text = String(repeating: "a", count: ChatLimits.entities + 1)
        func body(_ count: Int) -> JSONObject {
            let entities = (0..<count).map { JSONValue.object(["type": "bold", "offset": .integer(Int64($0)), "length": 1]) }
            return ["text": .string(text), "entities": .array(entities)]
        }
        #expect(
            try ChatKinds.accept(kind: .text, body: body(ChatLimits.entities)).fields["entities"]?.arrayValue?.count == ChatLimits.entities)
        for count in [ChatLimits.entities + 1, 10_000] {
            let error = #expect(throws: WireError.self) { try ChatKinds.accept(kind: .text, body: body(count)) }
            #expect(error?.problem == .tooLarge && error?.field == "body.entities")
        }
    }

    /// Entities that cover each other to the greatest depth.
    @Test func entitiesAreNestedToTheirNumber() {
        let count = ChatLimits.entities
        let text = String(repeating: "a", count: 2 * count)
        let nested = (0..<count).map { TextEntity(kind: .bold, offset: Int64($0), length: Int64(2 * (count - $0))) }
        #expect(self.problem(nested, of: text) == nil)
        var crossed = nested
        crossed[count - 1].length += Int64(2 * count)
        #expect(self.problem(crossed, of: text)?.field == "entities[\(count - 1)].length")
    }

    /// An address with a forbidden character at any place is not a link.
    @Test func noPlaceOfAnAddressHidesACharacter() {
        let url = Array("https://a.b/c?d#e".unicodeScalars)
        for hidden in [
            "\u{0}", "\u{9}", "\n", " ", "\u{7F}", "\u{85}", "\u{A0}", "\u{200B}", "\u{202E}", "\u{2066}", "\u{FEFF}", "\u{2028}", "\"",
            "<", "`", "\\",
        ] {
            for place in 0...url.count {
                var text = String.UnicodeScalarView()
                text.append(contentsOf: url[..<place])
                text.append(contentsOf: hidden.unicodeScalars)
                text.append(contentsOf: url[place...])
                #expect(!EntityRule.isSafe(String(text)), "\(place): \(hidden.unicodeScalars.map(\.value))")
            }
        }
    }

    @Test(arguments: ["HTTP", "Https", "mailTo", "TEL", "xMpp"])
    func schemesHaveNoCase(scheme: String) {
        #expect(EntityRule.isSafe(scheme + ":a"))
        #expect(!EntityRule.isSafe(scheme) && !EntityRule.isSafe(scheme + ":") && !EntityRule.isSafe("x" + scheme + ":a"))
        #expect(!EntityRule.isSafe(scheme.dropLast() + "\u{301}:a") && !EntityRule.isSafe(":" + scheme + ":a"))
    }
}
