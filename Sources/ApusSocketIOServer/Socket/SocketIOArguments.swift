import ApusJSON
import ApusSocketIOProtocol

/// Between an event's values and a handler's types.
enum SocketIOArguments {
    static func encode<each Argument: Encodable>(_ arguments: repeat each Argument) throws -> [SocketIOValue] {
        var values: [SocketIOValue] = []
        for argument in repeat each arguments { values.append(try self.value(of: argument)) }
        return values
    }

    static func value(of argument: some Encodable) throws -> SocketIOValue {
        if let value = argument as? SocketIOValue { return value }
        return try JSONValueEncoder().encode(argument)
    }

    /// Decodes as many values as there are types. A missing value decodes as null: an optional takes it, others throw.
    static func decode<each Argument: Decodable>(_ values: [SocketIOValue], as types: repeat (each Argument).Type) throws -> (
        repeat each Argument
    ) {
        var rest = values[...]
        func next<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let value = rest.popFirst() ?? .null
            if let value = value as? Value { return value }
            return try JSONValueDecoder().decode(type, from: value)
        }
        return (repeat try next(each types))
    }
}
