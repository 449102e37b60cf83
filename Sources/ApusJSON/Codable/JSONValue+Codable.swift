import struct Foundation.Data

/// ``JSONValueEncoder`` and ``JSONValueDecoder`` pass values through unchanged. With other coders,
/// such as Foundation's `JSONEncoder`, binary data and dates are encoded as `Data` and `Date`.
extension JSONValue: Codable {
    /// Decodes any value.
    public init(from decoder: any Decoder) throws {
        if let scope = decoder as? JSONDecodingScope {
            self = scope.value
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode(JSONObject.self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        if let scope = encoder as? JSONEncodingScope {
            scope.node.set(self)
            return
        }
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .binary(let value): try container.encode(Data(value))
        case .date(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSONObject: Codable {
    /// Decodes an object, in the order of the decoder's keys.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: JSONCodingKey.self)
        self.init()
        for key in container.allKeys { self[key.stringValue] = try container.decode(JSONValue.self, forKey: key) }
    }

    /// Encodes the members.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: JSONCodingKey.self)
        for member in self { try container.encode(member.value, forKey: JSONCodingKey(stringValue: member.key)) }
    }
}
