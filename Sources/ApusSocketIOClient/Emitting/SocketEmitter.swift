import ApusSocketIOProtocol

/// The flags of an emitted event.
struct SocketEmitFlags: Sendable {
    var isVolatile = false
    var compresses = true
    var timeout: Duration?
}

/// A type that emits events: a ``SocketIOClient``, or a ``SocketEmitter`` with flags.
///
/// ```swift
/// socket.volatile.emit("position", x, y)
/// socket.timeout(.seconds(5)).emitWithAck("save", text).…
/// ```
public protocol SocketEmitting: Sendable {
    /// The socket, and the flags of the events that it emits.
    var emitter: SocketEmitter { get }
}

/// A socket with flags for the events that it emits.
public struct SocketEmitter: SocketEmitting {
    let socket: SocketIOClient
    var flags = SocketEmitFlags()

    /// This emitter.
    public var emitter: SocketEmitter { self }
}

extension SocketIOClient: SocketEmitting {
    /// This socket, without flags.
    public var emitter: SocketEmitter { SocketEmitter(socket: self) }
}

// The flags, with the names of Node's Socket.IO client.
extension SocketEmitting {
    /// Events are sent at once or dropped, and never buffered or retried. Suits values that soon
    /// become outdated.
    public var volatile: SocketEmitter { self.with { $0.isVolatile = true } }

    /// Returns an emitter with this ack timeout, for calls without one of their own.
    public func timeout(_ timeout: Duration) -> SocketEmitter { self.with { $0.timeout = timeout } }

    /// Returns an emitter that enables or disables the compression of its events over a WebSocket
    /// that negotiated it. Default: yes. Disable it for data that is compressed already.
    public func compress(_ compresses: Bool) -> SocketEmitter { self.with { $0.compresses = compresses } }

    private func with(_ change: (inout SocketEmitFlags) -> Void) -> SocketEmitter {
        var emitter = self.emitter
        change(&emitter.flags)
        return emitter
    }
}
