import ApusEventLoop
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// Emitting. While the socket is not connected, events wait in a bounded buffer. An event that
// cannot be sent is reported to the lifecycle listeners as `.error`.
extension SocketIOClientEmitting {
    /// Sends an event.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        let emitter = self.emitter
        emitter.socket.core.onLoop { $0.emit(event, arguments, emitter.flags) }
    }

    /// Sends an event with Codable arguments. `Data` and `JSONValue.binary(_:)` are sent as
    /// attachments.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments. One that cannot be encoded is reported as `.error`,
    ///     and the event is not sent.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do throws(SocketIOError) {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.emitter.socket.core.onLoop { $0.report(.error(error)) }
        }
    }

    /// Sends a declared event.
    ///
    /// - Parameters:
    ///   - event: The declared event.
    ///   - arguments: The event's arguments.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketIOEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }

    /// Sends an event and waits for the server's ack.
    ///
    /// The timeout starts with the call and includes the wait for a connection. The event is sent
    /// once; it fails if the connection is lost after it was sent. The timeout does not withdraw an
    /// event that was sent: the server may still process it, and a later ack is ignored.
    ///
    /// With ``SocketIOManagerConfiguration/retries``, the timeout applies to each try and starts
    /// when the try is sent. The wait for a connection and for earlier events is then not limited.
    /// A late ack of an earlier try completes the call.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: The time to wait for the ack. `nil` (the default) uses the value set with
    ///     ``SocketIOClientEmitting/timeout(_:)`` or, if there is none,
    ///     ``SocketIOManagerConfiguration/ackTimeout``.
    /// - Throws: `SocketIOError` with the code `ackTimeout`, `disconnected` (as soon as the
    ///   connection is lost; the server may have received the event), `bufferFull`,
    ///   `invalidUse` or `notConnected` (for a volatile event); `CancellationError`.
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

    /// Sends an event with Codable arguments, waits for the server's ack, and returns the first
    /// value of the ack.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: As in ``emitWithAck(_:arguments:timeout:)``.
    ///   - type: The type of the ack's first value. A missing value is decoded as null.
    /// - Throws: The errors of ``emitWithAck(_:arguments:timeout:)``, and `invalidPayload` if the
    ///   first value of the ack does not decode as `type`.
    public func emitWithAck<each Argument: Encodable & Sendable, Answer: Decodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, timeout: Duration? = nil, as type: Answer.Type
    ) async throws -> Answer {
        let values = try SocketIOArguments.encode(repeat each arguments)
        let answer = try await self.emitWithAck(event, arguments: values, timeout: timeout)
        return try SocketIOArguments.decode(values: answer, as: Answer.self)
    }

    /// Sends a declared event with an ack and waits for the server's ack.
    ///
    /// - Parameters:
    ///   - request: The declaration of the event and its ack.
    ///   - arguments: The event's arguments.
    ///   - timeout: As in ``emitWithAck(_:arguments:timeout:)``.
    /// - Throws: The errors of ``emitWithAck(_:arguments:timeout:)``, and `invalidPayload` if the
    ///   ack does not decode as the declared type.
    public func emitWithAck<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketIORequest<repeat each Argument, Answer>, _ arguments: repeat each Argument, timeout: Duration? = nil
    ) async throws -> Answer {
        try await self.emitWithAck(request.name, repeat each arguments, timeout: timeout, as: Answer.self)
    }

    /// Sends an event and passes the server's ack to a callback.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: As in ``emitWithAck(_:arguments:timeout:)``.
    ///   - completion: The closure to call once, in the context of
    ///     ``SocketIOManagerConfiguration/callbacks``, with the ack's arguments or an error of
    ///     ``emitWithAck(_:arguments:timeout:)``.
    public func emitWithAck(
        _ event: String, arguments: [SocketIOValue], timeout: Duration? = nil,
        completion: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void
    ) {
        var flags = self.emitter.flags
        flags.timeout = timeout ?? flags.timeout
        self.emitter.socket.core.onLoop { [flags] core in
            _ = core.emit(event, arguments, flags) { result in
                let result = result.mapError {
                    $0 as? SocketIOError ?? SocketIOError(.closed, message: "the wait for the ack was cancelled", cause: $0)
                }
                core.call(isBounded: false) { completion(result) }
            }
        }
    }

    /// Sends an event with Codable arguments and passes the server's ack to a callback. See
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
