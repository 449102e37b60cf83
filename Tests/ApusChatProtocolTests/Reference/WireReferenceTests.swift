import ApusChatProtocol
import ApusChatReference
import ApusJSON
import Testing

@Suite("The reference of the wire describes the codecs")
struct WireReferenceTests {
    @Test(arguments: DescribedObject.all)
    func exampleIsReadAndWrittenAsItIs(object: DescribedObject) throws {
        let value = JSONValue.object(try object.value())
        #expect(try object.recode.run(value) == value)
    }

    /// Fields that exclude others, so that an example cannot have them all.
    private static let exclusive: Set<String> = ["from", "before", "around", "conv", "link", "device", "others", "old", "recovery"]

    @Test(arguments: DescribedObject.all)
    func everyOptionalFieldIsReadAndWritten(object: DescribedObject) throws {
        for field in object.fields where !field.isRequired && !Self.exclusive.contains(field.name) {
            var value = try object.value()
            value[field.name] = Samples.valid(field.type)
            let result = try object.recode.run(.object(value))
            // Values that stand for an absent field are omitted.
            let isDefault = ["seq", "n", "min_seq", "limit", "own"].contains(field.name) && result[field.name] == nil
            #expect(isDefault || result[field.name] == value[field.name], "\(field.name)")
        }
    }

    @Test(arguments: DescribedObject.all)
    func everyRequiredFieldIsRequired(object: DescribedObject) throws {
        // An absent list is read as an empty one, except in requests.
        for field in object.fields where field.isRequired && (object.isRequest || !field.type.isList) {
            var value = try object.value()
            value[field.name] = nil
            guard !Self.mayBeEmpty(field, in: object) else { continue }
            #expect(throws: WireError(.missing, field: field.name, rule: "is required"), "\(field.name)") {
                try object.recode.run(.object(value))
            }
        }
    }

    /// Whether a required field may be empty or absent.
    private static func mayBeEmpty(_ field: Field, in object: DescribedObject) -> Bool {
        ["convs", "options"].contains(field.name) || (field.name == "role" && !object.isRequest)
            || (!object.isRequest && field.type.isChoice)
    }

    @Test(arguments: DescribedObject.all)
    func aFieldOfAnotherTypeIsRefusedByName(object: DescribedObject) throws {
        for field in object.fields where field.type != .bool || field.isRequired {
            var value = try object.value()
            value[field.name] = Samples.wrongType(field.type)
            let error = #expect(throws: WireError.self, "\(field.name)") { try object.recode.run(.object(value)) }
            #expect(error?.field.hasPrefix(field.name) == true && error?.problem == .invalid, "\(field.name): \(String(describing: error))")
        }
    }

    @Test(arguments: DescribedObject.all)
    func aValueBeyondALimitIsRefusedByName(object: DescribedObject) throws {
        for field in object.fields {
            for (outside, problem) in Samples.outside(field.type) {
                // An empty string is valid, because it removes a nickname or an alias.
                if outside == "" && field.type == .string(0...ChatLimits.nickLength) { continue }
                var value = try object.value()
                value[field.name] = outside
                let error = #expect(throws: WireError.self, "\(field.name)") { try object.recode.run(.object(value)) }
                #expect(
                    error?.field.hasPrefix(field.name) == true && error?.problem == problem, "\(field.name): \(String(describing: error))")
            }
        }
    }

    @Test(arguments: DescribedObject.all)
    func unknownFieldsAreIgnoredAndNullsAreAbsent(object: DescribedObject) throws {
        var value = try object.value()
        let expected = JSONValue.object(value)
        value["zz_later"] = ["a": 1]
        for field in object.fields where value[field.name] == nil { value[field.name] = .null }
        #expect(try object.recode.run(.object(value)) == expected)
    }

    @Test(arguments: DescribedObject.all)
    func theCodeHasNoOtherFields(object: DescribedObject) throws {
        let count = try object.recode.propertyCount(.object(try object.value()))
        // `from`, `before` and `around` are one property, and so are the four fields of a change
        // beside an access.
        let joined = ["history": 2, "call.update answer": 3]
        #expect(count == object.fields.count - joined[object.name, default: 0])
    }

    @Test(arguments: DescribedObject.all.filter(\.isRequest))
    func anUnknownChoiceOfARequestIsRefused(object: DescribedObject) throws {
        for field in object.fields where field.type.isChoice {
            var value = try object.value()
            value[field.name] = "zz_later"
            let error = #expect(throws: WireError.self, "\(field.name)") { try object.recode.run(.object(value)) }
            #expect(error?.field == field.name)
            value[field.name] = "unknown"
            #expect(throws: WireError.self, "\(field.name)") { try object.recode.run(.object(value)) }
        }
    }

    @Test(arguments: DescribedObject.all.filter { !$0.isRequest })
    func anUnknownChoiceOfAnAnswerIsRead(object: DescribedObject) throws {
        for field in object.fields where field.type.isChoice {
            var value = try object.value()
            value[field.name] = "zz_later"
            #expect(try object.recode.run(.object(value))[field.name] == "unknown", "\(field.name)")
        }
    }

    @Test(arguments: [JSONValue.null, 1, "x", [], [1], true])
    func anObjectIsRequired(value: JSONValue) {
        for object in DescribedObject.all where !object.fields.isEmpty {
            #expect(throws: WireError(.invalid, field: "", rule: "must be an object")) { try object.recode.run(value) }
        }
    }

    @Test func namesAreUnique() {
        let verbs = ChatReference.verbs.map(\.name)
        #expect(Set(verbs).count == verbs.count)
        let shapes = ChatReference.shapes.map(\.name)
        #expect(Set(shapes).count == shapes.count)
        for verb in ChatReference.verbs {
            #expect(Set(verb.request.map(\.name)).count == verb.request.count, "\(verb.name)")
            #expect(Set(verb.answer.map(\.name)).count == verb.answer.count, "\(verb.name)")
            #expect(!verb.isChanging || (verb.errors.contains(.conflict) && verb.errors.contains(.storage)), "\(verb.name)")
        }
        #expect(ChatReference.liveVerbs.isSubset(of: verbs))
    }

    @Test func everyErrorCodeIsDescribedAndReturned() {
        #expect(ChatReference.errors.map(\.code) == ChatError.Code.allCases.filter { $0 != .unknown })
        let returned = Set(ChatReference.verbs.flatMap(\.errors) + Verb.commonErrors)
        #expect(returned == Set(ChatReference.errors.map(\.code)))
    }

    @Test func everyNamedShapeIsDescribed() {
        func named(_ type: FieldType) -> [String] {
            switch type {
            case .shape(let name): [name]
            case .list(let element, _): named(element)
            default: []
            }
        }
        let known = Set(ChatReference.shapes.map(\.name))
        for object in DescribedObject.all {
            for field in object.fields { #expect(known.isSuperset(of: named(field.type)), "\(object.name).\(field.name)") }
        }
    }
}

extension FieldType {
    var isList: Bool {
        if case .list = self { true } else { false }
    }

    var isChoice: Bool {
        if case .choice = self { true } else { false }
    }
}
