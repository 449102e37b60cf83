import ApusJSON

/// Validates values against the part of JSON Schema (2020-12) that `docs/openapi.json` uses, and
/// makes values from it. It knows the document only, not the code from which it is generated.
struct JSONSchema {
    /// The schemas by their names.
    var components: JSONObject

    /// The keywords that the validator knows. A document with another one would pass unchecked.
    static let keywords: Set<String> = [
        "type", "properties", "required", "items", "maxItems", "minLength", "maxLength", "pattern", "minimum", "maximum", "enum", "$ref",
        "description",
    ]

    func resolved(_ schema: JSONValue) -> JSONValue {
        guard let target = schema["$ref"]?.stringValue, let name = target.split(separator: "/").last else { return schema }
        return self.components[String(name)] ?? .null
    }

    /// Returns the violations of a schema, each with the path of its value.
    func violations(of schema: JSONValue, by value: JSONValue, at path: String = "") -> [String] {
        let schema = self.resolved(schema)
        let unknown = (schema.objectValue ?? [:]).map(\.key).filter { !Self.keywords.contains($0) }
        guard unknown.isEmpty else { return ["\(path): unknown keywords \(unknown)"] }
        if let values = schema["enum"]?.arrayValue, !values.contains(value) { return ["\(path): \(value) is not in the set"] }
        switch (schema["type"]?.stringValue, value) {
        case ("object", .object(let object)): return self.violations(of: schema, by: object, at: path)
        case ("array", .array(let elements)):
            guard let items = schema["items"], elements.count <= schema["maxItems"]?.intValue ?? .max else {
                return ["\(path): \(elements.count) elements"]
            }
            return elements.enumerated().flatMap { self.violations(of: items, by: $1, at: "\(path)[\($0)]") }
        case ("string", .string(let text)):
            let length = (schema["minLength"]?.intValue ?? 0)...(schema["maxLength"]?.intValue ?? .max)
            guard length.contains(text.unicodeScalars.count) else { return ["\(path): \(text.unicodeScalars.count) scalars"] }
            guard let pattern = schema["pattern"]?.stringValue else { return [] }
            let matches = (try? Regex(pattern).matchingSemantics(.unicodeScalar).wholeMatch(in: text)) != nil
            return matches ? [] : ["\(path): \(text) is not \(pattern)"]
        case ("integer", .integer(let number)): return self.isInRange(Double(number), of: schema) ? [] : ["\(path): \(number)"]
        case ("number", .integer(let number)): return self.isInRange(Double(number), of: schema) ? [] : ["\(path): \(number)"]
        case ("number", .double(let number)): return self.isInRange(number, of: schema) ? [] : ["\(path): \(number)"]
        case ("boolean", .bool): return []
        default: return ["\(path): \(value) is no \(schema["type"]?.stringValue ?? "value")"]
        }
    }

    private func violations(of schema: JSONValue, by object: JSONObject, at path: String) -> [String] {
        let missing = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue).filter { object[$0] == nil }
        var found = missing.map { "\(path).\($0) is absent" }
        guard let properties = schema["properties"]?.objectValue else { return found }
        for member in object {
            guard let property = properties[member.key] else {
                found.append("\(path).\(member.key) is not described")
                continue
            }
            found += self.violations(of: property, by: member.value, at: "\(path).\(member.key)")
        }
        return found
    }

    private func isInRange(_ number: Double, of schema: JSONValue) -> Bool {
        number >= schema["minimum"]?.doubleValue ?? -.infinity && number <= schema["maximum"]?.doubleValue ?? .infinity
    }

    // MARK: Values

    /// Returns the smallest and the largest valid values of a schema.
    func limits(of schema: JSONValue) -> [JSONValue] {
        let schema = self.resolved(schema)
        if let values = schema["enum"]?.arrayValue { return values }
        switch schema["type"]?.stringValue {
        case "object": return [self.object(of: schema, isWhole: false), self.object(of: schema, isWhole: true)]
        case "array":
            guard let items = schema["items"], let element = self.limits(of: items).first else { return [] }
            return [[element], .array(Array(repeating: element, count: schema["maxItems"]?.intValue ?? 1))]
        case "string":
            if let pattern = schema["pattern"]?.stringValue { return Self.examples[pattern] ?? [] }
            return [schema["minLength"], schema["maxLength"]].compactMap { $0?.intValue }.map { .string(String(repeating: "a", count: $0)) }
        case "integer", "number": return [schema["minimum"], schema["maximum"]].compactMap { $0 }
        case "boolean": return [true]
        default: return []
        }
    }

    /// Returns an object with a valid value of each required property and, if it is whole, of the
    /// others.
    func object(of schema: JSONValue, isWhole: Bool) -> JSONValue {
        let required = Set((schema["required"]?.arrayValue ?? []).compactMap(\.stringValue))
        var object = JSONObject()
        for property in schema["properties"]?.objectValue ?? [:] where isWhole || required.contains(property.key) {
            object[property.key] = self.limits(of: property.value).first
        }
        return .object(object)
    }

    /// Returns values that a schema refuses, each by one keyword. Unknown members of a set are not
    /// among them, because readers of answers accept those.
    func wrongValues(of schema: JSONValue) -> [JSONValue] {
        let schema = self.resolved(schema)
        switch schema["type"]?.stringValue {
        case "object": return [[], "x", 1, true]
        case "array":
            guard let items = schema["items"], let element = self.limits(of: items).first, let most = schema["maxItems"]?.intValue else {
                return []
            }
            return [.array(Array(repeating: element, count: most + 1)), [nil], ["a": element], "x", 1]
        case "string":
            var values: [JSONValue] = [1, true, [], [:], ["a"]]
            if let least = schema["minLength"]?.intValue, least > 0 { values.append(.string(String(repeating: "a", count: least - 1))) }
            if let most = schema["maxLength"]?.intValue { values.append(.string(String(repeating: "a", count: most + 1))) }
            if schema["pattern"] != nil { values += ["é", " ", "a b", .string(String(repeating: "~", count: 300)), "\u{0}"] }
            return values
        case "integer", "number":
            var values: [JSONValue] = ["1", true, [], [:]]
            if let least = schema["minimum"]?.doubleValue { values.append(.double(least - 1)) }
            if let most = schema["maximum"]?.doubleValue { values.append(.double(most + 1)) }
            if schema["type"] == "integer" { values.append(0.5) }
            return values
        case "boolean": return ["true", 1, [], [:]]
        default: return []
        }
    }

    /// Texts of the patterns.
    private static let examples: [String: [JSONValue]] = [
        "^[0-7][0-9a-hjkmnp-tv-z]{12}$": ["0000000000000", "7zzzzzzzzzzzz", "0123456789abc", "0defghjkmnpqr", "0stvwxyz00000"],
        "^[!-~]{1,64}$": ["!", .string(String(repeating: "~", count: 64)), "a\"\\<&"],
        "^[!-~]{1,256}$": ["!", .string(String(repeating: "~", count: 256)), "a\"\\<&"],
        "^[0-9a-f]{64}$": [.string(String(repeating: "09af", count: 16))],
        "^([0-9a-f]{64})?$": [.string(String(repeating: "09af", count: 16)), ""],
        "^[A-Za-z0-9_-]{16,64}$": ["AZaz09_-AZaz09_-", .string(String(repeating: "-", count: 64))],
    ]
}
