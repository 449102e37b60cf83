import struct Foundation.Data
import struct Foundation.Date
import struct Foundation.URL

/// The encoder that an `encode(to:)` meets.
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

    /// The scope of a nested container.
    func child(_ node: JSONEncodingNode, key: any CodingKey) -> JSONEncodingScope {
        JSONEncodingScope(node: node, path: self.path.appending(key), settings: self.settings)
    }

    /// The value of a member or an element. A type that encodes nothing is an empty object there, as for Foundation.
    func nestedValue<T: Encodable>(of value: T, key: (any CodingKey)?) throws -> JSONValue {
        try self.value(of: value, key: key) ?? .object([:])
    }

    /// The one place where types are told apart. `nil` when `encode(to:)` wrote nothing.
    ///
    /// Each integer type must stand here: its own `encode(to:)` would come back with itself.
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
            // By its text: 0.1 as a `Float` is 0.10000000149011612 as a `Double`, and nobody meant that.
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
        guard let exact = Int64(exactly: value) else { throw self.invalid(value, key, "\(value) does not fit in 64 bits with a sign.") }
        return .integer(exact)
    }

    private func number(_ value: Double, key: (any CodingKey)?) throws -> JSONValue {
        guard value.isFinite else { throw self.invalid(value, key, "JSON has no form for \(value).") }
        return .double(value)
    }

    private func date(_ value: Date, key: (any CodingKey)?) throws -> JSONValue {
        guard JSONDate.holds(value) else {
            // The seconds and not the date: Foundation traps when such a date is printed, and errors are printed.
            throw self.invalid(value.timeIntervalSince1970, key, "The date is beyond what JavaScript can hold.")
        }
        return .date(value)
    }

    private func invalid(_ value: Any, _ key: (any CodingKey)?, _ reason: String) -> EncodingError {
        .invalidValue(value, .init(codingPath: self.path.appending(key).keys, debugDescription: reason))
    }
}
