import ApusSocketIOProtocol

/// The flags of an emitted event.
struct SocketIOClientEmitFlags: Sendable {
    var isVolatile = false
    var isCompressed = true
    var timeout: Duration?
}

/// A type that emits events: a ``SocketIOClient``, or a ``SocketIOClientEmitter`` with flags.
///
/// ```swift
/// socket.volatile.emit("position", x, y)
/// socket.timeout(.seconds(5)).emitWithAck("save", text).…
/// ```
public protocol SocketIOClientEmitting: Sendable {
    /// The socket, and the flags of the events that it emits.
    var emitter: SocketIOClientEmitter { get }
}

/// A socket with flags for the events that it emits.
public struct SocketIOClientEmitter: SocketIOClientEmitting {
    let socket: SocketIOClient
    var flags = SocketIOClientEmitFlags()

    /// This emitter.
    public var emitter: SocketIOClientEmitter { self }
}

extension SocketIOClient: SocketIOClientEmitting {
    /// This socket, without flags.
    public var emitter: SocketIOClientEmitter { SocketIOClientEmitter(socket: self) }
}

// The flags, with the names of Node's Socket.IO client.
extension SocketIOClientEmitting {
    /// Returns an emitter whose events are sent immediately or dropped, and never buffered or
    /// retried. Suitable for values that soon become outdated.
    public var volatile: SocketIOClientEmitter { self.with { $0.isVolatile = true } }

    /// Returns an emitter that applies this ack timeout to calls without a `timeout` argument.
    public func timeout(_ timeout: Duration) -> SocketIOClientEmitter { self.with { $0.timeout = timeout } }

    /// Returns an emitter that enables or disables the compression of its events over a WebSocket
    /// that negotiated it. Default: `true`. Disable it for data that is compressed already.
    public func compress(_ isCompressed: Bool) -> SocketIOClientEmitter { self.with { $0.isCompressed = isCompressed } }

    private func with(_ change: (inout SocketIOClientEmitFlags) -> Void) -> SocketIOClientEmitter {
        var emitter = self.emitter
        change(&emitter.flags)
        return emitter
    }
}
