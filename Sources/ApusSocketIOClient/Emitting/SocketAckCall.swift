public import ApusJSON
public import ApusSocketIOProtocol

/// An event that is sent when it is told how long its ack is to be waited for, and who gets it.
///
/// The callback is called once, where ``SocketManagerConfiguration/callbacks`` says.
public struct SocketAckCall: Sendable {
    let emitter: SocketEmitter
    let event: String
    let arguments: Result<[SocketIOValue], SocketIOError>

    /// Sends the event. The callback gets the answer, or the error: the codes of ``SocketEmitting/emitWithAck(_:arguments:timeout:)``.
    public func timingOut(
        after timeout: Duration, result callback: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void
    ) {
        self.send(timeout: timeout, callback)
    }

    /// Sends the event, as users of socket.io-client-swift do. The callback gets the answer; ``SocketAckStatus/noAck`` alone when none came, for
    /// whatever reason.
    ///
    /// - Parameters:
    ///   - seconds: How long to wait. 0: as long as the configuration says (there is no waiting without end).
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
                    let result = result.mapError { $0 as? SocketIOError ?? SocketIOError(.closed, message: "the call ended", cause: $0) }
                    core.call(isBounded: false) { callback(result) }
                }
            case .failure(let error):
                core.call(isBounded: false) { callback(.failure(error)) }
            }
        }
    }
}

/// What stands in place of an answer that did not come.
public enum SocketAckStatus {
    /// The one value of the data: `"NO ACK"`, as in socket.io-client-swift.
    public static let noAck: SocketIOValue = "NO ACK"
}
