import ApusChatProtocol
import ApusChatReference
import ApusJSON
import ApusSeededRandom
import Testing

/// Objects with random values of the described types.
@Suite("Random objects of the wire")
struct RandomObjectTests {
    private static let scalars = Array("aZ09 .-_éßΣ鸟א\u{301}\u{200D}\u{202E}\u{0}\u{7F}\n\"\\/😀👍🏽\u{FFFD}\u{10FFFF}".unicodeScalars)

    /// The fields that errors of rules between fields name. A random object may violate the rules.
    private static let rules: Set<String> = [
        "from", "conv", "device", "old", "read", "title", "users", "user", "role", "kind", "state", "query", "edits", "settings",
        "password", "new",
    ]

    private struct Source {
        var generator: SplitMix64
        var depth = 0

        mutating func number(_ range: ClosedRange<Int64>) -> Int64 {
            switch Int.random(in: 0..<4, using: &self.generator) {
            case 0: range.lowerBound
            case 1: range.upperBound
            default: Int64.random(in: range, using: &self.generator)
            }
        }

        mutating func text(_ range: ClosedRange<Int>) -> String {
            let longest = min(range.upperBound, max(range.lowerBound, 40))
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: range.lowerBound...longest, using: &self.generator) {
                text.append(RandomObjectTests.scalars.randomElement(using: &self.generator) ?? "a")
            }
            return String(text)
        }

        mutating func pick(_ texts: [String]) -> JSONValue { .string(texts.randomElement(using: &self.generator) ?? "") }

        mutating func ascii(_ range: ClosedRange<Int>) -> JSONValue {
            .string(
                String(
                    decoding: (0..<Int.random(in: range, using: &self.generator)).map { _ in
                        UInt8.random(in: 0x21...0x7E, using: &self.generator)
                    }, as: UTF8.self))
        }

        mutating func value(_ type: FieldType) -> JSONValue {
            self.depth += 1
            defer { self.depth -= 1 }
            switch type {
            case .string(let range): return .string(self.text(range))
            case .user: return self.pick(["bob", "a", "9.x-y_z", "张伟", "אבג", "fußball", "el\u{E9}a", String(repeating: "a", count: 32)])
            case .conversation, .device: return .string(ConversationID(number: self.number(0...Int64.max)).rawValue)
            case .client: return self.ascii(1...64)
            case .token: return self.ascii(1...256)
            case .blob:
                return .string(
                    (0..<64).map { _ in "0123456789abcdef".randomElement(using: &self.generator).map(String.init) ?? "0" }.joined())
            case .blobOrEmpty: return Bool.random(using: &self.generator) ? "" : self.value(.blob)
            case .link: return self.pick(["k7Qm2ZtX9bVw4NsA", String(repeating: "-_", count: 32)])
            case .kind: return self.pick(["text", "member.join", "x.a", "sticker", "鸟", "x." + String(repeating: "a", count: 62)])
            case .integer(let range): return .integer(self.number(range))
            case .number(let range): return .double(Double.random(in: range, using: &self.generator))
            case .time: return .integer(self.number(0...WireReader.largestInteger))
            case .bool: return .bool(Bool.random(using: &self.generator))
            case .any: return ["a": [.string(self.text(0...9)), nil, .integer(self.number(-9...9)), ["b": [:]]]]
            case .choice(let values): return self.pick(values)
            case .shape(let name):
                return self.object(ChatReference.shapes.first { $0.name == name }?.fields ?? [], isWhole: name == "Settings")
            case .list(let element, let maximum):
                let count = self.depth > 3 ? 1 : Int.random(in: 0...min(maximum, 3), using: &self.generator)
                return .array((0..<count).map { _ in self.value(element) })
            }
        }

        mutating func object(_ fields: [Field], isWhole: Bool = false) -> JSONValue {
            var members: [(String, JSONValue)] = []
            for field in fields where field.isRequired || isWhole || (self.depth < 5 && Bool.random(using: &self.generator)) {
                // Most required lists must not be empty.
                let value = self.value(field.type)
                if case .list(let element, _) = field.type, field.isRequired, value == [] {
                    members.append((field.name, [self.value(element)]))
                } else {
                    members.append((field.name, value))
                }
            }
            return .object(JSONObject(members))
        }
    }

    /// A described object is read. The object that is written for it is read without a change, also
    /// from its JSON text. Answers and pushes have no rules between fields.
    @Test(arguments: DescribedObject.all)
    func describedObjectsAreRead(object: DescribedObject) throws {
        var source = Source(generator: SplitMix64(state: UInt64(object.name.utf8.reduce(7) { ($0 &* 33 &+ Int($1)) & 0xFFFF_FFFF })))
        var read = 0
        for _ in 0..<60 {
            let value = source.object(object.fields, isWhole: object.name == "Settings")
            do throws(WireError) {
                let form = try object.recode.run(value)
                read += 1
                #expect(try object.recode.run(form) == form)
                let parsed = try? JSONReader.read(try form.jsonString())
                #expect(try object.recode.run(parsed ?? .null) == form)
            } catch {
                let name = String(error.field.prefix { $0 != "." && $0 != "[" })
                let isNickname = error.rule.hasPrefix("must contain a visible character") || error.problem == .tooLarge
                #expect(
                    object.isRequest && (Self.rules.contains(name) || isNickname), "\(error): \(value)")
            }
        }
        #expect(read > 0)
    }

    /// Fields of a later version in any object inside of an object do not change what is read.
    @Test(arguments: DescribedObject.all)
    func unknownFieldsAreIgnoredAtEveryLevel(object: DescribedObject) throws {
        func extended(_ value: JSONValue, _ type: FieldType) -> JSONValue {
            switch (type, value) {
            case (.shape(let name), .object): return withFields(value, ChatReference.shapes.first { $0.name == name }?.fields ?? [])
            case (.list(let element, _), .array(let elements)): return .array(elements.map { extended($0, element) })
            default: return value
            }
        }
        func withFields(_ value: JSONValue, _ fields: [Field]) -> JSONValue {
            guard var members = value.objectValue else { return value }
            for field in fields { if let inner = members[field.name] { members[field.name] = extended(inner, field.type) } }
            members["zz_later"] = ["a": [1, nil, "x"]]
            members[""] = 1
            return .object(members)
        }
        for isWhole in [true, false] {
            let value = isWhole ? JSONValue.object(try object.value()) : Samples.object(object.fields, optional: object.name == "Settings")
            guard let plain = try? object.recode.run(value) else { continue }
            #expect(try object.recode.run(withFields(value, object.fields)) == plain)
        }
    }

    /// A list of 10,000 elements is read or refused by its number, before its elements are.
    @Test(arguments: DescribedObject.all)
    func longListsAreRefusedByTheirNumber(object: DescribedObject) throws {
        for field in object.fields {
            guard case .list(_, let maximum) = field.type, maximum < 10_000 else { continue }
            var value = try object.value()
            value[field.name] = .array(Array(repeating: .null, count: 10_001))
            let error = #expect(throws: WireError.self) { try object.recode.run(.object(value)) }
            #expect(error?.problem == .tooLarge && error?.field == field.name, "\(field.name): \(String(describing: error))")
        }
    }
}
