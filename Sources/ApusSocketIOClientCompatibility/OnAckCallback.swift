public import ApusJSON
public import ApusSocketIOClient
public import ApusSocketIOProtocol

/// An event that requests an ack. ``timingOut(after:callback:)`` sends it.
public struct OnAckCallback: Sendable {
    let send: @Sendable (_ timeout: Duration?, _ completion: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void) -> Void

    /// Sends the event. The callback receives the answer, or only ``SocketAckStatus/noAck`` after
    /// any failure.
    ///
    /// - Parameters:
    ///   - seconds: The timeout. 0 selects that of the configuration; there is no unlimited wait.
    ///   - callback: Called once, in the context of the listeners.
    public func timingOut(after seconds: Double, callback: @escaping @Sendable ([SocketIOValue]) -> Void) {
        let isTime = seconds > 0 && seconds < 1e9
        self.send(isTime ? .milliseconds(Int64(seconds * 1000)) : nil) { result in
            callback((try? result.get()) ?? [SocketAckStatus.noAck])
        }
    }
}

/// The value in place of a missing answer.
public enum SocketAckStatus {
    /// The only value after a failure: `"NO ACK"`, as in socket.io-client-swift.
    public static let noAck: SocketIOValue = "NO ACK"
}

extension SocketIOClientEmitting {
    /// Prepares an event whose answer is passed to a callback. `timingOut` sends the event:
    ///
    /// ```swift
    /// socket.emitWithAck("add", 1, 2).timingOut(after: 5) { data in … }
    /// ```
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: Its arguments.
    public func emitWithAck<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) -> OnAckCallback {
        OnAckCallback { timeout, completion in
            self.emitWithAck(event, repeat each arguments, timeout: timeout, completion: completion)
        }
    }
}
