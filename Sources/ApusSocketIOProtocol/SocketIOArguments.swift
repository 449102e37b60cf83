import ApusJSON

/// Converts between the values of an event or ack and the application's Codable types.
package enum SocketIOArguments {
    /// Returns one value per argument.
    ///
    /// - Throws: ``SocketIOError/Code/invalidArguments`` with the encoder's error as its cause.
    package static func encode<each Argument: Encodable>(_ arguments: repeat each Argument) throws(SocketIOError) -> [SocketIOValue] {
        var values: [SocketIOValue] = []
        do {
            for argument in repeat each arguments { values.append(try self.value(of: argument)) }
        } catch {
            throw SocketIOError(.invalidArguments, message: "argument \(values.count + 1) cannot be encoded", cause: error)
        }
        return values
    }

    /// Returns the value of one argument; a ``SocketIOValue`` is returned unchanged.
    package static func value(of argument: some Encodable) throws -> SocketIOValue {
        try JSONValueEncoder().encode(argument)
    }

    /// Decodes one argument per type.
    ///
    /// A missing argument decodes as null, which suits optionals. Surplus arguments are ignored, as
    /// in Node's Socket.IO, and not decoded.
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
                message: "argument \(count) of \(payload.arguments.count) does not decode as the type that the handler takes", cause: error)
        }
    }

    /// Decodes arguments that are values already.
    package static func decode<each Argument: Decodable>(
        values: [SocketIOValue], as types: repeat (each Argument).Type
    ) throws(SocketIOError) -> (repeat each Argument) {
        try self.decode(SocketIOPayload(values), as: repeat each types)
    }
}
