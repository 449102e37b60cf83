// In each container, one generic method implements all `decode` requirements of the protocol.
// `JSONDecodingScope` handles the individual types.

struct JSONKeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let scope: JSONDecodingScope
    let object: JSONObject

    var codingPath: [any CodingKey] { self.scope.codingPath }
    var allKeys: [Key] { self.object.compactMap { Key(stringValue: $0.key) } }

    func contains(_ key: Key) -> Bool { self.object[key.stringValue] != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try self.value(key).isNull }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try self.scope.decoded(type, self.value(key), key: key)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type, forKey key: Key) throws -> KeyedDecodingContainer<NestedKey> {
        try self.scope.child(self.value(key), key: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try self.scope.child(self.value(key), key: key).unkeyedContainer()
    }

    /// Returns a decoder of the member `super`, or of `null` if there is no such member.
    func superDecoder() throws -> any Decoder { self.superDecoder(JSONCodingKey.superclass) }
    func superDecoder(forKey key: Key) throws -> any Decoder { self.superDecoder(key) }

    private func superDecoder(_ key: any CodingKey) -> any Decoder { self.scope.child(self.object[key.stringValue] ?? .null, key: key) }

    private func value(_ key: Key) throws -> JSONValue {
        guard let value = self.object[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, .init(codingPath: self.codingPath, debugDescription: "No member named \"\(key.stringValue)\"."))
        }
        return value
    }
}

struct JSONUnkeyedDecoding: UnkeyedDecodingContainer {
    let scope: JSONDecodingScope
    let elements: [JSONValue]
    private(set) var currentIndex = 0

    init(scope: JSONDecodingScope, elements: [JSONValue]) {
        self.scope = scope
        self.elements = elements
    }

    var codingPath: [any CodingKey] { self.scope.codingPath }
    var count: Int? { self.elements.count }
    var isAtEnd: Bool { self.currentIndex >= self.elements.count }

    /// Advances only past a `null`, as the protocol requires.
    mutating func decodeNil() throws -> Bool {
        guard try self.next(Never.self).isNull else { return false }
        self.currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let result = try self.scope.decoded(type, self.next(type), key: self.key)
        self.currentIndex += 1
        return result
    }

    mutating func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try self.scope.child(self.next(JSONObject.self), key: self.key).container(keyedBy: type)
        self.currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try self.scope.child(self.next([JSONValue].self), key: self.key).unkeyedContainer()
        self.currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = self.scope.child(try self.next(JSONValue.self), key: self.key)
        self.currentIndex += 1
        return decoder
    }

    private var key: JSONCodingKey { JSONCodingKey(intValue: self.currentIndex) }

    private func next(_ type: Any.Type) throws -> JSONValue {
        guard !self.isAtEnd else {
            let path = self.codingPath + [self.key]
            throw DecodingError.valueNotFound(
                type, .init(codingPath: path, debugDescription: "The array has only \(self.elements.count) elements."))
        }
        return self.elements[self.currentIndex]
    }
}

struct JSONSingleValueDecoding: SingleValueDecodingContainer {
    let scope: JSONDecodingScope

    var codingPath: [any CodingKey] { self.scope.codingPath }

    func decodeNil() -> Bool { self.scope.value.isNull }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try self.scope.decoded(type, self.scope.value, key: nil) }
}
