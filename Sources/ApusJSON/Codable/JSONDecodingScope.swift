import struct Foundation.Data
import struct Foundation.Date
import struct Foundation.URL

/// The decoder passed to `init(from:)`.
struct JSONDecodingScope: Decoder {
    let value: JSONValue
    let path: JSONCodingPath
    let settings: JSONValueDecoder

    var codingPath: [any CodingKey] { self.path.keys }
    var userInfo: [CodingUserInfoKey: Any] { self.settings.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let object) = self.value else { throw self.mismatch(JSONObject.self, self.value, key: nil) }
        return KeyedDecodingContainer(JSONKeyedDecoding(scope: self, object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = self.value else { throw self.mismatch([JSONValue].self, self.value, key: nil) }
        return JSONUnkeyedDecoding(scope: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { JSONSingleValueDecoding(scope: self) }

    func child(_ value: JSONValue, key: any CodingKey) -> JSONDecodingScope {
        JSONDecodingScope(value: value, path: self.path.appending(key), settings: self.settings)
    }

    /// Decodes a value, with a special case for each built-in type. All integer types must be
    /// listed, because their own `init(from:)` would recurse endlessly.
    func decoded<T: Decodable>(_ type: T.Type, _ value: JSONValue, key: (any CodingKey)?) throws -> T {
        if T.self == String.self { return sameType(try self.string(value, type, key), as: type) }
        if T.self == Int.self { return sameType(try self.integer(value, as: Int.self, key), as: type) }
        if T.self == Bool.self {
            guard case .bool(let bool) = value else { throw self.mismatch(type, value, key: key) }
            return sameType(bool, as: type)
        }
        if T.self == Double.self { return sameType(try self.number(value, type, key), as: type) }
        if T.self == JSONValue.self { return sameType(value, as: type) }
        if T.self == JSONObject.self {
            guard case .object(let object) = value else { throw self.mismatch(type, value, key: key) }
            return sameType(object, as: type)
        }
        if T.self == Int64.self { return sameType(try self.integer(value, as: Int64.self, key), as: type) }
        if T.self == UInt64.self { return sameType(try self.integer(value, as: UInt64.self, key), as: type) }
        if T.self == UInt.self { return sameType(try self.integer(value, as: UInt.self, key), as: type) }
        if T.self == Int32.self { return sameType(try self.integer(value, as: Int32.self, key), as: type) }
        if T.self == UInt32.self { return sameType(try self.integer(value, as: UInt32.self, key), as: type) }
        if T.self == Int16.self { return sameType(try self.integer(value, as: Int16.self, key), as: type) }
        if T.self == UInt16.self { return sameType(try self.integer(value, as: UInt16.self, key), as: type) }
        if T.self == Int8.self { return sameType(try self.integer(value, as: Int8.self, key), as: type) }
        if T.self == UInt8.self { return sameType(try self.integer(value, as: UInt8.self, key), as: type) }
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            if T.self == Int128.self { return sameType(try self.integer(value, as: Int128.self, key), as: type) }
            if T.self == UInt128.self { return sameType(try self.integer(value, as: UInt128.self, key), as: type) }
        }
        if T.self == Float.self { return sameType(try self.float(value, key), as: type) }
        if T.self == [UInt8].self, case .binary(let bytes) = value { return sameType(bytes, as: type) }
        if T.self == Data.self { return sameType(try self.data(value, key), as: type) }
        if T.self == Date.self { return sameType(try self.date(value, key), as: type) }
        if T.self == URL.self { return sameType(try self.url(value, key), as: type) }
        return try T(from: JSONDecodingScope(value: value, path: self.path.appending(key), settings: self.settings))
    }

    private func string(_ value: JSONValue, _ type: Any.Type, _ key: (any CodingKey)?) throws -> String {
        // A date is decoded as its JSON text.
        if case .date(let date) = value, let text = JSONDate.text(of: date) { return text }
        guard case .string(let string) = value else { throw self.mismatch(type, value, key: key) }
        return string
    }

    private func integer<Number: BinaryInteger>(_ value: JSONValue, as type: Number.Type, _ key: (any CodingKey)?) throws -> Number {
        let exact: Number?
        switch value {
        case .integer(let integer): exact = Number(exactly: integer)
        case .double(let double): exact = double.exactWholeNumber.flatMap { Number(exactly: $0) }
        case .null, .bool, .string, .binary, .date, .array, .object: throw self.mismatch(type, value, key: key)
        }
        guard let exact else { throw self.corrupted("The number is not exactly representable as \(type).", key) }
        return exact
    }

    private func number(_ value: JSONValue, _ type: Any.Type, _ key: (any CodingKey)?) throws -> Double {
        guard let double = value.doubleValue else { throw self.mismatch(type, value, key: key) }
        return double
    }

    private func float(_ value: JSONValue, _ key: (any CodingKey)?) throws -> Float {
        let double = try self.number(value, Float.self, key)
        let float = Float(double)
        guard float.isFinite || !double.isFinite else { throw self.corrupted("The number exceeds the range of Float.", key) }
        return float
    }

    private func data(_ value: JSONValue, _ key: (any CodingKey)?) throws -> Data {
        switch value {
        case .binary(let bytes): return Data(bytes)
        case .array: return Data(try self.decoded([UInt8].self, value, key: key))
        case .string(let text):
            guard let data = Data(base64Encoded: text) else { throw self.corrupted("The string is not base64.", key) }
            return data
        case .null, .bool, .integer, .double, .date, .object: throw self.mismatch(Data.self, value, key: key)
        }
    }

    private func date(_ value: JSONValue, _ key: (any CodingKey)?) throws -> Date {
        if case .date(let date) = value { return date }
        if let milliseconds = value.doubleValue { return Date(timeIntervalSince1970: milliseconds / 1000) }
        guard let date = JSONDate.date(from: try self.string(value, Date.self, key)) else {
            throw self.corrupted("The string is not an ISO 8601 date, alone or with a time and a time zone.", key)
        }
        return date
    }

    private func url(_ value: JSONValue, _ key: (any CodingKey)?) throws -> URL {
        guard let url = URL(string: try self.string(value, URL.self, key)) else { throw self.corrupted("The string is not a URL.", key) }
        return url
    }
}
