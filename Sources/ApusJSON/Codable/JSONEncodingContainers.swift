// In each container, one generic method implements all `encode` requirements of the protocol.
// `JSONEncodingScope` handles the individual types.

struct JSONKeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let scope: JSONEncodingScope

    var codingPath: [any CodingKey] { self.scope.codingPath }

    func encodeNil(forKey key: Key) { self.scope.node.append(.null, key: key.stringValue) }

    func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        self.scope.node.append(try self.scope.nestedValue(of: value, key: key), key: key.stringValue)
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type, forKey key: Key) -> KeyedEncodingContainer<NestedKey> {
        self.child(key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { self.child(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { self.child(JSONCodingKey.superclass) }
    func superEncoder(forKey key: Key) -> any Encoder { self.child(key) }

    private func child(_ key: any CodingKey) -> JSONEncodingScope {
        self.scope.child(self.scope.node.node(key: key.stringValue), key: key)
    }
}

struct JSONUnkeyedEncoding: UnkeyedEncodingContainer {
    let scope: JSONEncodingScope

    var codingPath: [any CodingKey] { self.scope.codingPath }
    var count: Int { self.scope.node.count }

    func encodeNil() { self.scope.node.append(.null) }

    func encode<T: Encodable>(_ value: T) throws {
        self.scope.node.append(try self.scope.nestedValue(of: value, key: JSONCodingKey(intValue: self.count)))
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy keyType: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        self.child().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self.child().unkeyedContainer() }
    func superEncoder() -> any Encoder { self.child() }

    private func child() -> JSONEncodingScope {
        let scope = self.scope.child(JSONEncodingNode(), key: JSONCodingKey(intValue: self.count))
        self.scope.node.append(scope.node)
        return scope
    }
}

struct JSONSingleValueEncoding: SingleValueEncodingContainer {
    let scope: JSONEncodingScope

    var codingPath: [any CodingKey] { self.scope.codingPath }

    func encodeNil() { self.scope.node.set(.null) }

    func encode<T: Encodable>(_ value: T) throws {
        self.scope.node.set(try self.scope.nestedValue(of: value, key: nil))
    }
}
