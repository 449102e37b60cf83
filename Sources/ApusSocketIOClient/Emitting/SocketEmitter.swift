import ApusSocketIOProtocol

/// How one event is sent.
struct SocketEmitFlags: Sendable {
    var isVolatile = false
    var compresses = true
    var timeout: Duration?
}

/// What emits: a ``SocketIOClient``, and a ``SocketEmitter``, which is a socket with flags.
///
/// ```swift
/// socket.volatile.emit("position", x, y)
/// socket.timeout(.seconds(5)).emitWithAck("save", text).…
/// ```
public protocol SocketEmitting: Sendable {
    /// The socket and the flags of what is emitted.
    var emitter: SocketEmitter { get }
}

/// A socket with flags for what is emitted through it.
public struct SocketEmitter: SocketEmitting {
    let socket: SocketIOClient
    var flags = SocketEmitFlags()

    /// Itself.
    public var emitter: SocketEmitter { self }
}

extension SocketIOClient: SocketEmitting {
    /// This socket, without flags.
    public var emitter: SocketEmitter { SocketEmitter(socket: self) }
}

// The flags, in the names of the reference.
extension SocketEmitting {
    /// Events leave at once or not at all: they never wait for a connection, and are never repeated. For what is out of date a moment later.
    public var volatile: SocketEmitter { self.with { $0.isVolatile = true } }

    /// Acks are waited for as long as this, where the call does not say.
    public func timeout(_ timeout: Duration) -> SocketEmitter { self.with { $0.timeout = timeout } }

    /// Whether the WebSocket compresses the events, where it was agreed to compress. Default: yes. Of use for what is compressed already.
    public func compress(_ compresses: Bool) -> SocketEmitter { self.with { $0.compresses = compresses } }

    private func with(_ change: (inout SocketEmitFlags) -> Void) -> SocketEmitter {
        var emitter = self.emitter
        change(&emitter.flags)
        return emitter
    }
}
