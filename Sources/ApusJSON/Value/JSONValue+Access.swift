public import struct Foundation.Date

extension JSONValue {
    /// Whether this is `null`.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The boolean, when this is one. Numbers and strings are not converted.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number, when this is one; `2.0` counts as one.
    ///
    /// A double beyond 2⁵³ is refused: the text may have named a neighbour of it.
    public var intValue: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .double(let value): value.exactWholeNumber.flatMap { Int(exactly: $0) }
        case .null, .bool, .string, .binary, .date, .array, .object: nil
        }
    }

    /// The number, when this is one. A whole number beyond 2⁵³ is rounded.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .null, .bool, .string, .binary, .date, .array, .object: nil
        }
    }

    /// The string, when this is one.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The bytes, when this is binary data.
    public var binaryValue: [UInt8]? {
        if case .binary(let value) = self { value } else { nil }
    }

    /// The date, when this is one. The text of a date is not converted; decode it as a `Date` for that.
    public var dateValue: Date? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The elements, when this is an array.
    public var arrayValue: [JSONValue]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The members, when this is an object.
    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of that name; `nil` when there is none or this is not an object.
    public subscript(key: String) -> JSONValue? {
        if case .object(let object) = self { object[key] } else { nil }
    }

    /// The element at that place; `nil` outside the array or when this is not an array.
    public subscript(index: Int) -> JSONValue? {
        if case .array(let array) = self, array.indices.contains(index) { array[index] } else { nil }
    }

    /// Whether binary data stands anywhere in this value.
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
    /// The value as an integer, when it is whole and every whole number of its size has a double of its own (up to 2⁵³).
    var exactWholeNumber: Int64? {
        self.magnitude <= 9_007_199_254_740_992 ? Int64(exactly: self) : nil
    }
}
