import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

/// Values for the fields of the reference: valid ones, ones of a wrong type, and ones outside of
/// the limits.
enum Samples {
    static func valid(_ type: FieldType) -> JSONValue {
        switch type {
        case .string(let range): .string(String(repeating: "a", count: max(range.lowerBound, min(range.upperBound, 8))))
        case .user: "bob"
        case .conversation, .device: "0000000000001"
        case .client, .token: "t-1"
        case .blob, .blobOrEmpty: .string(String(repeating: "0f", count: 32))
        case .link: "k7Qm2ZtX9bVw4NsA"
        case .kind: "text"
        case .integer(let range): .integer(max(range.lowerBound, min(range.upperBound, 7)))
        case .number(let range): .double((range.lowerBound + range.upperBound) / 2 + 0.5)
        case .time: 1_790_000_000_000
        case .bool: true
        case .any: ["text": "x"]
        case .choice(let values): .string(values[values.count - 1])
        case .shape(let name): self.shape(name, optional: name == "Settings")
        case .list(let element, _): [self.valid(element)]
        }
    }

    /// Returns an object with valid values of the required fields and, if `optional` is true, of
    /// the others.
    static func object(_ fields: [Field], optional: Bool) -> JSONValue {
        .object(JSONObject(fields.filter { $0.isRequired || optional }.map { ($0.name, self.valid($0.type)) }))
    }

    static func shape(_ name: String, optional: Bool) -> JSONValue {
        guard let shape = ChatReference.shapes.first(where: { $0.name == name }) else { return .null }
        return self.object(shape.fields, optional: optional)
    }

    /// Returns a value of a type that no field of this type accepts.
    static func wrongType(_ type: FieldType) -> JSONValue {
        switch type {
        case .integer, .number, .time, .bool: "seven"
        case .list: ["a": 1]
        default: 7
        }
    }

    /// Returns values just outside of the limits of a type, with the problem that the reader must
    /// report.
    static func outside(_ type: FieldType) -> [(value: JSONValue, problem: WireError.Problem)] {
        switch type {
        case .string(let range):
            [(.string(String(repeating: "鸟", count: range.upperBound + 1)), .tooLarge)]
                + (range.lowerBound > 0 ? [(.string(String(repeating: "a", count: range.lowerBound - 1)), .invalid)] : [])
        case .user: [("a b", .invalid), ("", .invalid), (.string(String(repeating: "a", count: 33)), .invalid)]
        case .conversation, .device: [("000000000000", .invalid), ("8000000000000", .invalid)]
        case .client: [("", .invalid), ("a b", .invalid), (.string(String(repeating: "a", count: 65)), .invalid)]
        case .token: [("", .invalid), (.string(String(repeating: "a", count: 257)), .invalid)]
        case .blob: [("", .invalid), (.string(String(repeating: "0F", count: 32)), .invalid)]
        case .blobOrEmpty: [("0f", .invalid)]
        case .link: [("short", .invalid)]
        case .kind: [("", .invalid), (.string(String(repeating: "a", count: 65)), .invalid)]
        case .integer(let range):
            [(.integer(range.lowerBound - 1), .invalid), (.integer(range.upperBound + 1), .invalid), (1.5, .invalid)]
        case .number(let range): [(.double(range.lowerBound - 1), .invalid), (.double(range.upperBound.nextUp), .invalid)]
        case .time: [(-1, .invalid), (.integer(WireReader.largestInteger + 1), .invalid), (1e300, .invalid)]
        case .list(let element, let maximum): [(.array(Array(repeating: self.valid(element), count: maximum + 1)), .tooLarge)]
        case .bool, .any, .choice, .shape: []
        }
    }
}

/// The described fields of an object, with its codec.
struct DescribedObject: Sendable, CustomTestStringConvertible {
    var name: String
    var fields: [Field]
    var example: String
    var recode: Recode
    var isRequest = false

    var testDescription: String { self.name }

    static let all: [DescribedObject] = {
        var all: [DescribedObject] = []
        func add(_ name: String, _ fields: [Field], _ example: String, _ recode: Recode?, isRequest: Bool = false) {
            if let recode { all.append(Self(name: name, fields: fields, example: example, recode: recode, isRequest: isRequest)) }
        }
        for verb in ChatReference.verbs {
            add(verb.name, verb.request, verb.examples.request, verb.recodes.request, isRequest: true)
            add(verb.name + " answer", verb.answer, verb.examples.answer, verb.recodes.answer)
        }
        for route in ChatReference.routes {
            add(route.path, route.request, route.examples.request, route.recodes.request, isRequest: true)
            add(route.path + " answer", route.answer, route.examples.answer, route.recodes.answer)
        }
        for push in ChatReference.pushes { add("push " + push.name, push.fields, push.example, push.recode) }
        for shape in ChatReference.bodies + ChatReference.shapes { add(shape.name, shape.fields, shape.example, shape.recode) }
        return all
    }()

    /// Returns the example, or an object of the required fields if the reference has no example.
    /// The object of settings has all fields, because absent ones are written with their defaults.
    func value() throws -> JSONObject {
        let value =
            self.example.isEmpty ? Samples.object(self.fields, optional: self.name == "Settings") : try JSONReader.read(self.example)
        return value.objectValue ?? [:]
    }
}
