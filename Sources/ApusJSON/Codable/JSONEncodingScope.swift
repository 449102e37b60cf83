import struct Foundation.Data
import struct Foundation.Date
import struct Foundation.URL

/// The encoder passed to `encode(to:)`.
struct JSONEncodingScope: Encoder {
    let node: JSONEncodingNode
    let path: JSONCodingPath
    let settings: JSONValueEncoder

    var codingPath: [any CodingKey] { self.path.keys }
    var userInfo: [CodingUserInfoKey: Any] { self.settings.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        self.node.becomeObject()
        return KeyedEncodingContainer(JSONKeyedEncoding(scope: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        self.node.becomeArray()
        return JSONUnkeyedEncoding(scope: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { JSONSingleValueEncoding(scope: self) }

    /// Returns the scope of a nested container.
    func child(_ node: JSONEncodingNode, key: any CodingKey) -> JSONEncodingScope {
        JSONEncodingScope(node: node, path: self.path.appending(key), settings: self.settings)
    }

    /// Returns the value of a member or an element. A type that encodes nothing becomes an empty
    /// object, as in Foundation.
    func nestedValue<T: Encodable>(of value: T, key: (any CodingKey)?) throws -> JSONValue {
        try self.value(of: value, key: key) ?? .object([:])
    }

    /// Encodes a value, with a special case for each built-in type. Returns `nil` if `encode(to:)`
    /// encodes nothing.
    ///
    /// All integer types must be listed, because their own `encode(to:)` would recurse endlessly.
    func value<T: Encodable>(of value: T, key: (any CodingKey)?) throws -> JSONValue? {
        if T.self == String.self { return .string(sameType(value, as: String.self)) }
        if T.self == Int.self { return .integer(Int64(sameType(value, as: Int.self))) }
        if T.self == Bool.self { return .bool(sameType(value, as: Bool.self)) }
        if T.self == Double.self { return try self.number(sameType(value, as: Double.self), key: key) }
        if T.self == JSONValue.self { return sameType(value, as: JSONValue.self) }
        if T.self == JSONObject.self { return .object(sameType(value, as: JSONObject.self)) }
        if T.self == Int64.self { return .integer(sameType(value, as: Int64.self)) }
        if T.self == UInt64.self { return try self.integer(sameType(value, as: UInt64.self), key: key) }
        if T.self == UInt.self { return try self.integer(sameType(value, as: UInt.self), key: key) }
        if T.self == Int32.self { return try self.integer(sameType(value, as: Int32.self), key: key) }
        if T.self == UInt32.self { return try self.integer(sameType(value, as: UInt32.self), key: key) }
        if T.self == Int16.self { return try self.integer(sameType(value, as: Int16.self), key: key) }
        if T.self == UInt16.self { return try self.integer(sameType(value, as: UInt16.self), key: key) }
        if T.self == Int8.self { return try self.integer(sameType(value, as: Int8.self), key: key) }
        if T.self == UInt8.self { return try self.integer(sameType(value, as: UInt8.self), key: key) }
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            if T.self == Int128.self { return try self.integer(sameType(value, as: Int128.self), key: key) }
            if T.self == UInt128.self { return try self.integer(sameType(value, as: UInt128.self), key: key) }
        }
        if T.self == Float.self {
            // The conversion uses the decimal text: the `Float` 0.1 is 0.10000000149011612 as a
            // `Double`.
            let float = sameType(value, as: Float.self)
            return try self.number(Double(float.description) ?? Double(float), key: key)
        }
        if T.self == Data.self { return .binary([UInt8](sameType(value, as: Data.self))) }
        if T.self == Date.self { return try self.date(sameType(value, as: Date.self), key: key) }
        if T.self == URL.self { return .string(sameType(value, as: URL.self).absoluteString) }
        let scope = JSONEncodingScope(node: JSONEncodingNode(), path: self.path.appending(key), settings: self.settings)
        try value.encode(to: scope)
        return scope.node.resolved()
    }

    private func integer(_ value: some BinaryInteger, key: (any CodingKey)?) throws -> JSONValue {
        guard let exact = Int64(exactly: value) else { throw self.invalid(value, key, "\(value) exceeds the range of Int64.") }
        return .integer(exact)
    }

    private func number(_ value: Double, key: (any CodingKey)?) throws -> JSONValue {
        guard value.isFinite else { throw self.invalid(value, key, "\(value) cannot be written as JSON.") }
        return .double(value)
    }

    private func date(_ value: Date, key: (any CodingKey)?) throws -> JSONValue {
        guard JSONDate.holds(value) else {
            // Pass the seconds instead of the date, because Foundation traps when it prints a date
            // outside this range.
            throw self.invalid(value.timeIntervalSince1970, key, "The date is outside of JavaScript's range.")
        }
        return .date(value)
    }

    private func invalid(_ value: Any, _ key: (any CodingKey)?, _ reason: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: self.path.appending(key).keys, debugDescription: reason))
    }
}
