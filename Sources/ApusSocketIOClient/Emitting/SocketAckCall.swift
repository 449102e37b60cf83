import ApusEventLoop
public import ApusJSON
public import ApusSocketIOProtocol

/// An event with an ack that is sent by `timingOut`, which takes the timeout and the callback.
///
/// The callback is called once, in the context of ``SocketIOManagerConfiguration/callbacks``.
public struct SocketAckCall: Sendable {
    let emitter: SocketIOClientEmitter
    let event: String
    let arguments: Result<[SocketIOValue], SocketIOError>

    /// Sends the event. The callback receives the answer or an error with one of the codes of
    /// ``SocketIOClientEmitting/emitWithAck(_:arguments:timeout:)``.
    public func timingOut(
        after timeout: Duration, result callback: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void
    ) {
        self.send(timeout: timeout, callback)
    }

    /// Sends the event, with the signature of socket.io-client-swift. The callback receives the
    /// answer, or only ``SocketAckStatus/noAck`` after any failure.
    ///
    /// - Parameters:
    ///   - seconds: The timeout. 0 selects that of the configuration; there is no unlimited wait.
    ///   - callback: Called once.
    public func timingOut(after seconds: Double, callback: @escaping @Sendable ([SocketIOValue]) -> Void) {
        let isTime = seconds > 0 && seconds < 1e9
        self.send(timeout: isTime ? .milliseconds(Int64(seconds * 1000)) : nil) { result in
            callback((try? result.get()) ?? [SocketAckStatus.noAck])
        }
    }

    private func send(timeout: Duration?, _ callback: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void) {
        var flags = self.emitter.flags
        flags.timeout = timeout ?? flags.timeout
        let (event, arguments) = (self.event, self.arguments)
        self.emitter.socket.core.onLoop { [flags] core in
            switch arguments {
            case .success(let arguments):
                _ = core.emit(event, arguments, flags) { result in
                    let result = result.mapError {
                        $0 as? SocketIOError ?? SocketIOError(.closed, message: "the request was cancelled", cause: $0)
                    }
                    core.call(isBounded: false) { callback(result) }
                }
            case .failure(let error):
                core.call(isBounded: false) { callback(.failure(error)) }
            }
        }
    }
}

/// The value in place of a missing answer.
public enum SocketAckStatus {
    /// The only value after a failure: `"NO ACK"`, as in socket.io-client-swift.
    public static let noAck: SocketIOValue = "NO ACK"
}
