package import ApusJSON

extension WireReader {
    /// Decodes an object with any fields.
    package func free(_ name: String) throws(WireError) -> JSONObject { try self.required(try self.freeIfPresent(name), name) }

    /// Decodes an object with any fields that may be absent.
    package func freeIfPresent(_ name: String) throws(WireError) -> JSONObject? {
        guard let value = self[name] else { return nil }
        guard case .object(let object) = value else { throw WireError(.invalid, field: name, rule: "must be an object") }
        return object
    }

    /// Decodes an object.
    package func object<Value: WireObject>(_ name: String, as type: Value.Type = Value.self) throws(WireError) -> Value {
        try self.required(try self.objectIfPresent(name), name)
    }

    /// Decodes an object that may be absent.
    package func objectIfPresent<Value: WireObject>(_ name: String, as type: Value.Type = Value.self) throws(WireError) -> Value? {
        guard let value = self[name] else { return nil }
        do throws(WireError) { return try Value(json: value) } catch { throw error.under(name) }
    }

    /// Decodes a list of objects. An absent field is an empty list.
    package func objects<Value: WireObject>(
        _ name: String, as type: Value.Type = Value.self, minimum: Int = 0, maximum: Int
    ) throws(WireError) -> [Value] {
        try self.list(name, minimum: minimum, maximum: maximum) { value throws(WireError) in try Value(json: value) }
    }

    /// Decodes a list of strings with a syntax. An absent field is an empty list.
    package func texts<Text: WireText>(
        _ name: String, as type: Text.Type = Text.self, minimum: Int = 0, maximum: Int
    ) throws(WireError) -> [Text] {
        try self.list(name, minimum: minimum, maximum: maximum) { value throws(WireError) in try Self.text(value, "") }
    }

    /// Decodes a list of integers. An absent field is an empty list.
    package func integers(
        _ name: String, in range: ClosedRange<Int64> = 0...Self.largestInteger, minimum: Int = 0, maximum: Int
    ) throws(WireError) -> [Int64] {
        try self.list(name, minimum: minimum, maximum: maximum) { value throws(WireError) in
            guard let number = value.intValue.map(Int64.init), range.contains(number) else {
                throw WireError(.invalid, field: "", rule: "must be an integer from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }

    /// Decodes a list of strings of at most `length` Unicode scalars. An absent field is an empty
    /// list.
    package func strings(_ name: String, length: Int, minimum: Int = 0, maximum: Int) throws(WireError) -> [String] {
        try self.list(name, minimum: minimum, maximum: maximum) { value throws(WireError) in
            do throws(WireError) {
                return try WireReader(JSONObject([("", value)])).string("", minimum: 1, maximum: length)
            } catch {
                // `string` reports null as a missing field; in a list it is a value of the wrong
                // type.
                throw error.problem == .missing ? WireError(.invalid, field: "", rule: "must be a string") : error
            }
        }
    }

    /// Decodes a list. An absent field is an empty list.
    package func list<Value>(
        _ name: String, minimum: Int = 0, maximum: Int, _ read: (JSONValue) throws(WireError) -> Value
    ) throws(WireError) -> [Value] {
        guard let value = self[name] else {
            guard minimum == 0 else { throw WireError(.missing, field: name, rule: "is required") }
            return []
        }
        guard case .array(let elements) = value else { throw WireError(.invalid, field: name, rule: "must be an array") }
        guard elements.count >= minimum else {
            throw WireError(.invalid, field: name, rule: minimum == 1 ? "must not be empty" : "must have at least \(minimum) elements")
        }
        guard elements.count <= maximum else {
            throw WireError(.tooLarge, field: name, rule: "must have at most \(maximum) elements")
        }
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(WireError) { values.append(try read(element)) } catch { throw error.under(index: index).under(name) }
        }
        return values
    }

    static func text<Text: WireText>(_ value: JSONValue, _ name: String) throws(WireError) -> Text {
        guard case .string(let text) = value, let read = Text(wireText: text) else {
            throw WireError(.invalid, field: name, rule: Text.wireRule)
        }
        return read
    }

    func required<Value>(_ value: Value?, _ name: String) throws(WireError) -> Value {
        guard let value else { throw WireError(.missing, field: name, rule: "is required") }
        return value
    }
}
