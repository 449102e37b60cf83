import ApusJSON

/// Converts between the values of an event or ack and the application's Codable types.
package enum SocketIOArguments {
    /// Returns one value per argument.
    ///
    /// - Throws: ``SocketIOError/Code/invalidUse`` with the encoder's error as its cause.
    package static func encode<each Argument: Encodable>(_ arguments: repeat each Argument) throws(SocketIOError) -> [SocketIOValue] {
        var values: [SocketIOValue] = []
        do {
            for argument in repeat each arguments { values.append(try JSONValueEncoder().encode(argument)) }
        } catch {
            throw SocketIOError(.invalidUse, message: "argument \(values.count + 1) cannot be encoded", cause: error)
        }
        return values
    }

    /// Returns an encoded value; a ``SocketIOValue`` is returned unchanged.
    ///
    /// - Throws: ``SocketIOError/Code/invalidUse`` with the encoder's error as its cause.
    package static func value(of value: some Encodable) throws(SocketIOError) -> SocketIOValue {
        do {
            return try JSONValueEncoder().encode(value)
        } catch {
            throw SocketIOError(.invalidUse, message: "a value of type \(type(of: value)) cannot be encoded", cause: error)
        }
    }

    /// Decodes one argument per type.
    ///
    /// A missing argument decodes as null, for optional types. Further arguments are ignored, as in
    /// Node's Socket.IO, and not decoded.
    ///
    /// - Throws: ``SocketIOError/Code/invalidPayload`` with the decoder's error as its cause.
    package static func decode<each Argument: Decodable>(
        _ payload: SocketIOPayload, as types: repeat (each Argument).Type
    ) throws(SocketIOError) -> (repeat each Argument) {
        var count = 0
        var reader = SocketIOPayloadReader(payload)
        func next<T: Decodable>(_ type: T.Type) throws -> T {
            count += 1
            return try JSONValueDecoder().decode(type, from: reader.next() ?? .null)
        }
        do {
            return (repeat try next(each types))
        } catch {
            throw SocketIOError(
                .invalidPayload,
                message: "argument \(count) of \(payload.arguments.count) cannot be decoded as the expected type",
                cause: error)
        }
    }

    /// Decodes arguments that are values already.
    package static func decode<each Argument: Decodable>(
        values: [SocketIOValue], as types: repeat (each Argument).Type
    ) throws(SocketIOError) -> (repeat each Argument) {
        try self.decode(SocketIOPayload(values), as: repeat each types)
    }
}
