import ApusChatProtocol
import ApusChatReference
import ApusJSON
import ApusSeededRandom
import Testing

/// Changed examples. A reader returns a value or an error that names a field, and the value has one
/// written form.
@Suite("Readers accept or refuse any object")
struct WireMutationTests {
    /// Values that often cause errors in readers.
    private static let values: [JSONValue] = [
        .null, true, false, 0, 1, -1, 1.5, .integer(.max), .integer(.min), .double(1e308), .double(-0.0), .integer(9_007_199_254_740_992),
        "", " ", "a", "unknown", "0000000000001", "\u{0}",
        "\u{202E}", "\u{301}", "鸟", "👩‍👩‍👧", "x.a", "text", "member.join", [], [[]], [:], ["a": [:]],
        .string(String(repeating: "a", count: 9_000)), .array(Array(repeating: "a", count: 300)), .array(Array(repeating: [:], count: 300)),
    ]

    private func mutate(_ value: JSONValue, depth: Int = 0, with generator: inout SplitMix64) -> JSONValue {
        let stops = Int.random(in: 0..<4, using: &generator) == 0
        switch value {
        case .object(var object) where !object.isEmpty && !stops && depth < 5:
            let names = Array(object.keys)
            let name = names[Int.random(in: 0..<names.count, using: &generator)]
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: object[name] = nil
            case 1: object[name] = Self.values.randomElement(using: &generator)
            case 2: object[names.randomElement(using: &generator) ?? name] = object[name]
            default: object[name] = self.mutate(object[name] ?? .null, depth: depth + 1, with: &generator)
            }
            return .object(object)
        case .array(var elements) where !elements.isEmpty && !stops && depth < 5:
            let index = Int.random(in: 0..<elements.count, using: &generator)
            elements[index] = self.mutate(elements[index], depth: depth + 1, with: &generator)
            if Bool.random(using: &generator) { elements.append(elements[index]) }
            return .array(elements)
        case .integer(let number): return .integer(number &+ Int64.random(in: -20...20, using: &generator))
        case .string(let text) where !stops: return .string(text + (["", "\u{0}", "é", "-", "9"].randomElement(using: &generator) ?? ""))
        default: return Self.values.randomElement(using: &generator) ?? .null
        }
    }

    @Test(arguments: DescribedObject.all)
    func mutatedObjectsHaveOneFormOrAnError(object: DescribedObject) throws {
        let names = Set(object.fields.map(\.name))
        var generator = SplitMix64(state: UInt64(object.name.utf8.reduce(0) { $0 &* 31 &+ Int($1) }.magnitude))
        let example = JSONValue.object(try object.value())
        for _ in 0..<80 {
            var value = example
            for _ in 0...Int.random(in: 0..<3, using: &generator) { value = self.mutate(value, with: &generator) }
            do throws(WireError) {
                let first = try object.recode.run(value)
                let second = try object.recode.run(first)
                #expect(first == second, "\(value)")
            } catch {
                let field = error.field.prefix { $0 != "." && $0 != "[" }
                #expect(field.isEmpty || names.contains(String(field)) || value[String(field)] == nil, "\(error)")
            }
        }
    }

    @Test func mutatedBodiesAreAcceptedOrRefused() throws {
        var generator = SplitMix64(state: 7)
        for shape in ChatReference.bodies.prefix(while: { $0.name != "edit" }) {
            let kind = EventKind(rawValue: shape.name)
            let example = try JSONReader.read(shape.example)
            for _ in 0..<400 {
                guard let body = self.mutate(self.mutate(example, with: &generator), with: &generator).objectValue,
                    let accepted = try? ChatKinds.accept(kind: kind, body: body)
                else { continue }
                // An accepted body is accepted again and does not change.
                #expect(try ChatKinds.accept(kind: kind, body: accepted.fields) == accepted)
                let read = try ChatBody(kind: kind, body: accepted.fields)
                #expect(JSONValue.object(read.fields) == .object(accepted.fields))
                #expect((read.previewText ?? "").unicodeScalars.count <= ChatLimits.previewLength)
                #expect(read.blobs == accepted.blobs && read.mentions == accepted.mentions)
            }
        }
    }

    @Test func mutatedEventsHaveAPreview() throws {
        var generator = SplitMix64(state: 11)
        for shape in ChatReference.bodies {
            let kind = EventKind(rawValue: String(shape.name.prefix { $0 != "," }))
            let example = try JSONReader.read(shape.example)
            for _ in 0..<50 {
                let body = self.mutate(example, with: &generator).objectValue ?? [:]
                let event = ChatEvent(
                    conversation: ConversationID(number: 1), seq: 1, n: 1, sender: nil, id: nil, at: 0, kind: kind, body: body)
                let preview = ChatKinds.preview(of: event)
                #expect(try EventPreview(json: preview.json) == preview)
                _ = ChatChange(event)
            }
        }
    }

    @Test func mutatedNamesHaveOneForm() {
        var generator = SplitMix64(state: 13)
        let scalars = Array(
            "aB9._-éßςΣИі1０Ａﬁ鸟ｱ가אب٣\u{301}\u{200D}\u{200B}\u{202E}\u{212A}\u{130}\u{1E9E}😀 \u{3000}ﾊﾞﾟ가\u{11A8}\u{3099}".unicodeScalars)
        for _ in 0..<4_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 1..<7, using: &generator) { text.append(scalars.randomElement(using: &generator) ?? "a") }
            if let name = UserName(String(text)) {
                #expect(UserName(name.rawValue)?.rawValue.unicodeScalars.elementsEqual(name.rawValue.unicodeScalars) == true, "\(text)")
                #expect(name.rawValue.unicodeScalars.count <= ChatLimits.nameLength)
            }
            if let nick = Nickname.prepared(String(text)) {
                #expect(Nickname.prepared(nick)?.unicodeScalars.elementsEqual(nick.unicodeScalars) == true, "\(text)")
            }
        }
    }
}
