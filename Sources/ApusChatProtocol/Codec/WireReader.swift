package import ApusJSON

/// Decodes the fields of one JSON object. Errors name the first invalid field.
package struct WireReader: Sendable {
    /// The largest integer that every JSON implementation represents exactly (RFC 7493 section
    /// 2.2).
    package static let largestInteger: Int64 = 9_007_199_254_740_991
    /// The valid values of the `seq` or `n` of an event.
    package static let seqs: ClosedRange<Int64> = 1...Self.largestInteger

    /// The fields.
    package let object: JSONObject

    package init(_ object: JSONObject) { self.object = object }

    /// Creates a reader of a value, which must be an object.
    package init(_ value: JSONValue) throws(WireError) {
        guard case .object(let object) = value else { throw WireError(.invalid, field: "", rule: "must be an object") }
        self.object = object
    }

    /// Returns the value of a field; nil if it is absent or null.
    package subscript(name: String) -> JSONValue? {
        switch self.object[name] {
        case nil, .null: nil
        case let value?: value
        }
    }

    /// Returns whether a field has a value other than null.
    package func has(_ name: String) -> Bool { self[name] != nil }

    // MARK: Scalars

    /// Decodes an integer.
    package func integer(_ name: String, in range: ClosedRange<Int64> = 0...Self.largestInteger) throws(WireError) -> Int64 {
        try self.required(try self.integerIfPresent(name, in: range), name)
    }

    /// Decodes an integer that may be absent.
    package func integerIfPresent(
        _ name: String, in range: ClosedRange<Int64> = 0...Self.largestInteger
    ) throws(WireError) -> Int64? {
        guard let value = self[name] else { return nil }
        guard let number = value.intValue.map(Int64.init), range.contains(number) else {
            throw WireError(.invalid, field: name, rule: "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Decodes a number, which may have a fraction.
    package func number(_ name: String, in range: ClosedRange<Double>) throws(WireError) -> Double {
        try self.required(try self.numberIfPresent(name, in: range), name)
    }

    /// Decodes a number, which may have a fraction, and may be absent.
    package func numberIfPresent(_ name: String, in range: ClosedRange<Double>) throws(WireError) -> Double? {
        guard let value = self[name] else { return nil }
        guard let number = value.doubleValue, range.contains(number) else {
            throw WireError(.invalid, field: name, rule: "must be a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Decodes a Boolean. An absent field is `false`.
    package func bool(_ name: String) throws(WireError) -> Bool { try self.boolIfPresent(name) ?? false }

    /// Decodes a Boolean that may be absent.
    package func boolIfPresent(_ name: String) throws(WireError) -> Bool? {
        guard let value = self[name] else { return nil }
        guard let flag = value.boolValue else { throw WireError(.invalid, field: name, rule: "must be true or false") }
        return flag
    }

    /// Decodes a Boolean that must be present.
    package func flag(_ name: String) throws(WireError) -> Bool { try self.required(try self.boolIfPresent(name), name) }

    /// Decodes a string of at least `minimum` and at most `maximum` Unicode scalars.
    package func string(_ name: String, minimum: Int = 0, maximum: Int) throws(WireError) -> String {
        try self.required(try self.stringIfPresent(name, minimum: minimum, maximum: maximum), name)
    }

    /// Decodes a string that may be absent.
    package func stringIfPresent(_ name: String, minimum: Int = 0, maximum: Int) throws(WireError) -> String? {
        guard let value = self[name] else { return nil }
        guard case .string(let text) = value else { throw WireError(.invalid, field: name, rule: "must be a string") }
        // Counting scalars takes linear time, so the number of bytes is checked first.
        guard text.utf8.count <= maximum || (text.utf8.count <= maximum * 4 && text.unicodeScalars.count <= maximum) else {
            throw WireError(.tooLarge, field: name, rule: "must have at most \(maximum) Unicode scalars")
        }
        guard text.utf8.count >= minimum * 4 || text.unicodeScalars.count >= minimum else {
            throw WireError(
                .invalid, field: name, rule: minimum == 1 ? "must not be empty" : "must have at least \(minimum) Unicode scalars")
        }
        return text
    }

    /// Decodes a string with a syntax.
    package func text<Text: WireText>(_ name: String, as type: Text.Type = Text.self) throws(WireError) -> Text {
        try self.required(try self.textIfPresent(name), name)
    }

    /// Decodes a string with a syntax that may be absent.
    package func textIfPresent<Text: WireText>(_ name: String, as type: Text.Type = Text.self) throws(WireError) -> Text? {
        guard let value = self[name] else { return nil }
        return try Self.text(value, name)
    }

    /// Decodes a value of a set that later versions may extend. A string that is not in the set,
    /// and an absent field, are `unknown`.
    package func choice<Choice: WireChoice>(_ name: String, as type: Choice.Type = Choice.self) throws(WireError) -> Choice {
        guard let value = self[name] else { return .unknown }
        guard case .string(let text) = value else { throw WireError(.invalid, field: name, rule: "must be a string") }
        return Choice(rawValue: text) ?? .unknown
    }

    /// Decodes a value of a set that later versions may extend; nil if the field is absent.
    package func choiceIfPresent<Choice: WireChoice>(
        _ name: String, as type: Choice.Type = Choice.self
    ) throws(WireError) -> Choice? {
        self.has(name) ? try self.choice(name) : nil
    }

    /// Decodes a value of a request, which must be one that this version supports.
    package func knownChoice<Choice: WireChoice>(_ name: String, as type: Choice.Type = Choice.self) throws(WireError) -> Choice {
        try self.required(try self.knownChoiceIfPresent(name), name)
    }

    /// Decodes a value of a request; nil if the field is absent. A present value must be one that
    /// this version supports.
    package func knownChoiceIfPresent<Choice: WireChoice>(
        _ name: String, as type: Choice.Type = Choice.self
    ) throws(WireError) -> Choice? {
        guard self.has(name) else { return nil }
        let choice: Choice = try self.choice(name)
        guard choice != .unknown else {
            let known = Choice.allCases.filter { $0 != .unknown }.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            throw WireError(.invalid, field: name, rule: "must be one of \(known)")
        }
        return choice
    }
}
