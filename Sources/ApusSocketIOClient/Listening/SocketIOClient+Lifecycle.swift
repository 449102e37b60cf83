import ApusEventLoop
import ApusSocketIOProtocol

// Lifecycle listeners. Events of the server never reach them, regardless of their names.
extension SocketIOClient {
    /// Listens to all lifecycle events.
    @discardableResult
    public func onLifecycle(_ handler: @escaping @Sendable (SocketLifecycleEvent) -> Void) -> SocketListener {
        self.listen { $0.addLifecycle(.init(id: $1, handler: handler)) }
    }

    /// Listens to one kind of lifecycle event.
    @discardableResult
    public func on(clientEvent kind: SocketLifecycleEvent.Kind, handler: @escaping @Sendable (SocketLifecycleEvent) -> Void)
        -> SocketListener
    {
        self.listen { $0.addLifecycle(.init(id: $1, kind: kind, handler: handler)) }
    }

    /// Listens to one kind of lifecycle event, with the signature of socket.io-client-swift.
    ///
    /// The data is the id (`connect`), the reason (`disconnect`), the message (`error`,
    /// `upgradeError`), the number of the attempt (`reconnectAttempt`), the number of attempts
    /// (`reconnect`), the name of the state (`statusChange`), the seconds if known (`pong`), or
    /// else empty. The ack is never expected.
    @discardableResult
    public func on(clientEvent kind: SocketLifecycleEvent.Kind, callback: @escaping SocketEventHandler) -> SocketListener {
        self.on(clientEvent: kind) { (event: SocketLifecycleEvent) in callback(event.data, SocketAck.none) }
    }

    /// Removes the listeners of one kind of lifecycle event, except those of ``onLifecycle(_:)``.
    public func off(clientEvent kind: SocketLifecycleEvent.Kind) {
        self.core.onLoop { $0.handlers.removeLifecycle(kind) }
    }
}
