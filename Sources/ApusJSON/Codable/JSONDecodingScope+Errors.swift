extension JSONDecodingScope {
    /// Returns the error for a value of another kind; for `null` it is `valueNotFound`.
    func mismatch(_ type: Any.Type, _ value: JSONValue, key: (any CodingKey)?) -> DecodingError {
        let path = self.path.appending(key).keys
        guard !value.isNull else { return .valueNotFound(type, .init(codingPath: path, debugDescription: "Expected \(type), found null.")) }
        return .typeMismatch(type, .init(codingPath: path, debugDescription: "Expected \(type), found \(value.kindForErrors)."))
    }

    func corrupted(_ reason: String, _ key: (any CodingKey)?) -> DecodingError {
        .dataCorrupted(.init(codingPath: self.path.appending(key).keys, debugDescription: reason))
    }
}

extension JSONValue {
    /// The kind of the value. Errors never contain the value itself, because they may be logged.
    fileprivate var kindForErrors: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .double: "a number"
        case .string: "a string"
        case .binary: "binary data"
        case .date: "a date"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
