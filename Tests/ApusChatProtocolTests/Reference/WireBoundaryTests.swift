import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

@Suite("Values at their limits, and values inside of others")
struct WireBoundaryTests {
    /// Returns the smallest and the largest values of a type; an empty list for one without an
    /// order.
    private static func limits(_ type: FieldType) -> [JSONValue] {
        switch type {
        case .string(let range):
            [.string(String(repeating: "鸟", count: range.upperBound)), .string(String(repeating: "a", count: range.lowerBound))]
        case .integer(let range): [.integer(range.lowerBound), .integer(range.upperBound)]
        case .number(let range): [.double(range.lowerBound), .double(range.upperBound)]
        case .time: [0, .integer(WireReader.largestInteger)]
        case .user: [.string(String(repeating: "a", count: 32)), "a"]
        case .client: [.string(String(repeating: "~", count: 64)), "!"]
        case .token: [.string(String(repeating: "~", count: 256)), "!"]
        case .conversation, .device: ["0000000000000", "7zzzzzzzzzzzz"]
        case .list(let element, let maximum): [.array(Array(repeating: Samples.valid(element), count: maximum))]
        default: []
        }
    }

    /// Fields that exclude others.
    private static let exclusive: Set<String> = [
        "from", "before", "around", "conv", "link", "device", "others", "old", "recovery", "edits",
    ]

    @Test(arguments: DescribedObject.all)
    func aValueAtALimitIsAccepted(object: DescribedObject) throws {
        for field in object.fields where !Self.exclusive.contains(field.name) {
            for limit in Self.limits(field.type) {
                var value = try object.value()
                value[field.name] = limit
                do throws(WireError) {
                    let result = try object.recode.run(.object(value))
                    // A value that stands for an absent field is omitted.
                    let isDefault = result[field.name] == nil && (limit == 0 || limit == 1 || limit == [] || field.name == "limit")
                    #expect(isDefault || result[field.name] == limit, "\(field.name)")
                } catch {
                    // Empty or short values of some fields violate another rule.
                    #expect(error.field.hasPrefix(field.name) && (limit == "" || limit == "a"), "\(field.name): \(error)")
                }
            }
        }
    }

    /// Returns the fields of the objects in a field, with the paths by which errors name them.
    private static func nested(_ field: Field) -> [(path: String, fields: [Field], wrap: (JSONValue) -> JSONValue)] {
        func shape(_ name: String) -> [Field] { ChatReference.shapes.first { $0.name == name }?.fields ?? [] }
        switch field.type {
        case .shape(let name): return [(field.name, shape(name), { $0 })]
        case .list(.shape(let name), let maximum):
            let valid = Samples.shape(name, optional: false)
            return [(field.name + "[0]", shape(name), { .array([$0]) })]
                + (maximum > 2 ? [(field.name + "[2]", shape(name), { .array([valid, valid, $0]) })] : [])
        default: return []
        }
    }

    @Test(arguments: DescribedObject.all)
    func aWrongValueInsideIsNamedByItsPath(object: DescribedObject) throws {
        for field in object.fields {
            for (path, fields, wrap) in Self.nested(field) {
                for inner in fields where inner.type != .bool {
                    var nested = Samples.object(fields, optional: false).objectValue ?? [:]
                    nested[inner.name] = Samples.wrongType(inner.type)
                    var value = try object.value()
                    value[field.name] = wrap(.object(nested))
                    let error = #expect(throws: WireError.self, "\(path).\(inner.name)") { try object.recode.run(.object(value)) }
                    #expect(error?.field.hasPrefix("\(path).\(inner.name)") == true, "\(path).\(inner.name): \(String(describing: error))")
                }
            }
        }
    }

    @Test(arguments: DescribedObject.all)
    func anElementOfAnotherTypeIsNamedByItsPlace(object: DescribedObject) throws {
        for field in object.fields {
            guard case .list(let element, let maximum) = field.type, maximum > 1 else { continue }
            for wrong in [Samples.wrongType(element), .null] {
                var value = try object.value()
                value[field.name] = .array([Samples.valid(element), wrong])
                let error = #expect(throws: WireError.self, "\(field.name)") { try object.recode.run(.object(value)) }
                #expect(error?.field.hasPrefix("\(field.name)[1]") == true, "\(field.name): \(String(describing: error))")
            }
        }
    }

    /// JSON numbers that the protocol does not accept as integers.
    @Test(arguments: DescribedObject.all)
    func numbersAreExact(object: DescribedObject) throws {
        let wrong: [JSONValue] = [
            0.5, .double(1e300), .double(-1e300), .double(9_007_199_254_740_994), .integer(.max), .integer(.min), "1", true, [1],
        ]
        for field in object.fields {
            switch field.type {
            case .integer, .time: break
            default: continue
            }
            for number in wrong {
                var value = try object.value()
                value[field.name] = number
                let error = #expect(throws: WireError.self, "\(field.name) \(number)") { try object.recode.run(.object(value)) }
                #expect(
                    error?.field == field.name || error?.field == "from" || error?.field == "edits",
                    "\(field.name): \(String(describing: error))")
            }
        }
    }
}
