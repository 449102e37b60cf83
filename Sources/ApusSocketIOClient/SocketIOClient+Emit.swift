public import ApusSocketIOProtocol
public import ApusJSON
import NIOConcurrencyHelpers

// Sending. While the socket is not connected, events wait in a bounded buffer; one that cannot be sent is reported to the
// lifecycle listeners as `.error`.
extension SocketIOClient {
    /// Sends an event.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.core.onLoop { $0.emit(event, arguments, isVolatile: false) }
    }

    /// Sends an event with Codable arguments. `Data` and ``JSONValue/binary(_:)`` travel as attachments.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do throws(SocketIOError) {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.core.onLoop { $0.report(.error(error)) }
        }
    }

    /// Sends an event only when it can leave at once; else it is dropped. For what is out of date a moment later.
    public func emitVolatile<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do throws(SocketIOError) {
            let values = try SocketIOArguments.encode(repeat each arguments)
            self.core.onLoop { $0.emit(event, values, isVolatile: true) }
        } catch {
            self.core.onLoop { $0.report(.error(error)) }
        }
    }

    /// Sends an event and waits for the answer.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: Its arguments.
    ///   - timeout: From now to the answer, waiting for a connection included; nil: the configuration's.
    /// - Throws: ``SocketIOError`` with the code `ackTimeout`, `disconnected` (at once when the connection is lost; the server may have got
    ///   the event), `bufferFull`, `invalidArguments`; `CancellationError`.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue], timeout: Duration? = nil) async throws -> [SocketIOValue] {
        let state = NIOLockedValueBox<(id: Int?, isCancelled: Bool)>((nil, false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<[SocketIOValue], any Error>) in
                self.core.onLoop { core in
                    // All on one loop: either the cancellation is seen here, or it comes later and finds the id.
                    guard !state.withLockedValue({ $0.isCancelled }) else { return continuation.resume(throwing: CancellationError()) }
                    let id = core.emit(event, arguments, timeout: timeout) { continuation.resume(with: $0) }
                    state.withLockedValue { $0.id = id }
                }
            }
        } onCancel: {
            state.withLockedValue { $0.isCancelled = true }
            self.core.onLoop { core in
                if let id = state.withLockedValue({ $0.id }) { core.endAck(id, CancellationError()) }
            }
        }
    }

    /// Sends an event with Codable arguments and waits for the first value of the answer.
    ///
    /// - Throws: As ``emitWithAck(_:arguments:timeout:)``, and `invalidPayload` for an answer of another type.
    public func emitWithAck<each Argument: Encodable & Sendable, Answer: Decodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, timeout: Duration? = nil, as type: Answer.Type
    ) async throws -> Answer {
        let values = try SocketIOArguments.encode(repeat each arguments)
        let answer = try await self.emitWithAck(event, arguments: values, timeout: timeout)
        return try SocketIOArguments.decode(answer, as: Answer.self)
    }
}
