public import ApusJSON
public import ApusSocketIOClient
public import ApusSocketIOProtocol

/// An event that requests an ack. ``timingOut(after:callback:)`` sends it.
public struct OnAckCallback: Sendable {
    let send: @Sendable (_ timeout: Duration?, _ completion: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void) -> Void

    /// Sends the event. The callback receives the arguments of the ack, or only
    /// ``SocketAckStatus/noAck`` after any failure.
    ///
    /// - Parameters:
    ///   - seconds: The timeout. 0 selects the configured timeout; there is no unlimited wait.
    ///   - callback: The closure to call once, in the context of the listeners.
    public func timingOut(after seconds: Double, callback: @escaping @Sendable ([SocketIOValue]) -> Void) {
        let isTime = seconds > 0 && seconds < 1e9
        self.send(isTime ? .milliseconds(Int64(seconds * 1000)) : nil) { result in
            callback((try? result.get()) ?? [SocketAckStatus.noAck])
        }
    }
}

/// The value that replaces a missing ack.
public enum SocketAckStatus {
    /// The single value that a callback receives after a failure: `"NO ACK"`, as in
    /// socket.io-client-swift.
    public static let noAck: SocketIOValue = "NO ACK"
}

extension SocketIOClientEmitting {
    /// Prepares an event whose ack is passed to a callback. `timingOut` sends the event:
    ///
    /// ```swift
    /// socket.emitWithAck("add", 1, 2).timingOut(after: 5) { data in … }
    /// ```
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    public func emitWithAck<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) -> OnAckCallback {
        OnAckCallback { timeout, completion in
            self.emitWithAck(event, repeat each arguments, timeout: timeout, completion: completion)
        }
    }
}
