public import struct Foundation.Date

extension JSONValue {
    /// Whether the value is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The Boolean, or `nil` for another kind. Numbers and strings are not converted.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The integer, or `nil` for another kind; `2.0` counts as an integer.
    ///
    /// A double beyond 2⁵³ is `nil`, because the text may have contained a neighbouring integer.
    public var intValue: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .double(let value): value.exactWholeNumber.flatMap { Int(exactly: $0) }
        case .null, .bool, .string, .binary, .date, .array, .object: nil
        }
    }

    /// The number, or `nil` for another kind. An integer beyond 2⁵³ is rounded.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .null, .bool, .string, .binary, .date, .array, .object: nil
        }
    }

    /// The string, or `nil` for another kind.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The bytes of binary data, or `nil` for another kind.
    public var binaryValue: [UInt8]? {
        if case .binary(let value) = self { value } else { nil }
    }

    /// The date, or `nil` for another kind. A string is not converted; decode it as a `Date` for
    /// that.
    public var dateValue: Date? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The elements of an array, or `nil` for another kind.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members of an object, or `nil` for another kind.
    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member with this name; `nil` if it does not exist, or if the value is not an object.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The element at this index; `nil` outside of the array, or if the value is not an array.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let array) = self, array.indices.contains(index) { array[index] } else { nil }
    }

    /// Whether the value contains binary data, at any depth.
    public var containsBinary: Bool {
        switch self {
        case .binary: true
        case .array(let elements): elements.contains { $0.containsBinary }
        case .object(let object): object.contains { $0.value.containsBinary }
        case .null, .bool, .integer, .double, .string, .date: false
        }
    }
}

extension Double {
    /// The value as an integer, if it is integral and at most 2⁵³, where every integer has a
    /// double.
    var exactWholeNumber: Int64? {
        self.magnitude <= 9_007_199_254_740_992 ? Int64(exactly: self) : nil
    }
}
