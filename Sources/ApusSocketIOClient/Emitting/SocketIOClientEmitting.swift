import ApusEventLoop
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// While the socket is not connected, events wait in a bounded buffer. An event that cannot be sent
// is reported to the lifecycle listeners as `.error`.
extension SocketIOClientEmitting {
    /// Sends an event.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        let emitter = self.emitter
        emitter.socket.core.onLoop { $0.emit(event, arguments, emitter.flags) }
    }

    /// Sends an event with Codable arguments. `Data` and `JSONValue.binary(_:)` are sent as
    /// attachments.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do throws(SocketIOError) {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.emitter.socket.core.onLoop { $0.report(.error(error)) }
        }
    }

    /// Sends a declared event.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketIOEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }

    /// Sends an event and waits for the answer.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: The time until the answer, including the wait for a connection. nil selects
    ///     that of ``SocketIOClientEmitting/timeout(_:)``, or that of the configuration. With
    ///     ``SocketIOManagerConfiguration/retries`` it applies to each try, from the time the try
    ///     is sent.
    /// - Throws: `SocketIOError` with the code `ackTimeout`, `disconnected` (as soon as the
    ///   connection is lost; the server may have received the event), `bufferFull`,
    ///   `invalidArguments` or `notConnected` (for a volatile event); `CancellationError`.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue], timeout: Duration? = nil) async throws -> [SocketIOValue] {
        var emitter = self.emitter
        emitter.flags.timeout = timeout ?? emitter.flags.timeout
        let (core, flags) = (emitter.socket.core, emitter.flags)
        return try await withLoopOperation(on: core.eventLoop) { operation in
            let core = core.value
            guard let id = core.emit(event, arguments, flags, completion: { operation.end(with: $0) }) else { return }
            operation.whenCancelled { core.endAck(id, CancellationError()) }
        }
    }

    /// Sends an event with Codable arguments and waits for the first value of the answer.
    ///
    /// - Throws: The errors of ``emitWithAck(_:arguments:timeout:)``, and `invalidPayload` for an
    ///   answer of another type.
    public func emitWithAck<each Argument: Encodable & Sendable, Answer: Decodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, timeout: Duration? = nil, as type: Answer.Type
    ) async throws -> Answer {
        let values = try SocketIOArguments.encode(repeat each arguments)
        let answer = try await self.emitWithAck(event, arguments: values, timeout: timeout)
        return try SocketIOArguments.decode(values: answer, as: Answer.self)
    }

    /// Sends a declared request and waits for its answer.
    ///
    /// - Throws: The errors of ``emitWithAck(_:arguments:timeout:)``, and `invalidPayload` for an
    ///   answer of another type.
    public func emitWithAck<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketIORequest<repeat each Argument, Answer>, _ arguments: repeat each Argument, timeout: Duration? = nil
    ) async throws -> Answer {
        try await self.emitWithAck(request.name, repeat each arguments, timeout: timeout, as: Answer.self)
    }

    /// Sends an event and passes the answer to a callback.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: As in ``emitWithAck(_:arguments:timeout:)``.
    ///   - completion: Called once, in the context of ``SocketIOManagerConfiguration/callbacks``,
    ///     with the errors of ``emitWithAck(_:arguments:timeout:)``.
    public func emitWithAck(
        _ event: String, arguments: [SocketIOValue], timeout: Duration? = nil,
        completion: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void
    ) {
        var flags = self.emitter.flags
        flags.timeout = timeout ?? flags.timeout
        self.emitter.socket.core.onLoop { [flags] core in
            _ = core.emit(event, arguments, flags) { result in
                let result = result.mapError {
                    $0 as? SocketIOError ?? SocketIOError(.closed, message: "the request was cancelled", cause: $0)
                }
                core.call(isBounded: false) { completion(result) }
            }
        }
    }

    /// Sends an event with Codable arguments and passes the answer to a callback. See
    /// ``emitWithAck(_:arguments:timeout:completion:)``.
    public func emitWithAck<each Argument: Encodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, timeout: Duration? = nil,
        completion: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void
    ) {
        do throws(SocketIOError) {
            let values = try SocketIOArguments.encode(repeat each arguments)
            self.emitWithAck(event, arguments: values, timeout: timeout, completion: completion)
        } catch {
            self.emitter.socket.core.onLoop { core in core.call(isBounded: false) { completion(.failure(error)) } }
        }
    }
}
