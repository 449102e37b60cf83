import ApusJSON
import ApusSocketIOProtocol

/// Codable values to arguments and back.
enum SocketArguments {
    static func encode<each Argument: Encodable>(_ arguments: repeat each Argument) throws(SocketIOError) -> [SocketIOValue] {
        var values: [SocketIOValue] = []
        do {
            for argument in repeat each arguments { values.append(try self.value(of: argument)) }
        } catch {
            throw SocketIOError(.invalidArguments, message: "argument \(values.count + 1) cannot be encoded", cause: error)
        }
        return values
    }

    static func value(of argument: some Encodable) throws -> SocketIOValue {
        if let value = argument as? SocketIOValue { return value }
        return try JSONValueEncoder().encode(argument)
    }

    /// Missing arguments decode as null, which suits optionals; surplus ones are ignored, as in the reference client.
    static func decode<each Argument: Decodable>(
        _ values: [SocketIOValue], as types: repeat (each Argument).Type
    ) throws(SocketIOError) -> (repeat each Argument) {
        var index = 0
        func next<T: Decodable>(_ type: T.Type) throws -> T {
            defer { index += 1 }
            let value = index < values.count ? values[index] : .null
            if let value = value as? T { return value }
            return try JSONValueDecoder().decode(type, from: value)
        }
        do {
            return (repeat try next(each types))
        } catch {
            throw SocketIOError(
                .invalidPayload, message: "argument \(index) of \(values.count) is not what the handler takes", cause: error)
        }
    }
}
