import ApusEventLoop
import ApusSocketIOProtocol

// Lifecycle listeners. Events of the server never reach them, regardless of their names.
extension SocketIOClient {
    /// Listens to all lifecycle events.
    @discardableResult
    public func onLifecycle(_ handler: @escaping @Sendable (SocketIOClientLifecycleEvent) -> Void) -> SocketIOClientListener {
        self.listen { $0.addLifecycle(.init(id: $1, handler: handler)) }
    }

    /// Listens to one kind of lifecycle event.
    @discardableResult
    public func on(clientEvent kind: SocketIOClientLifecycleEvent.Kind, handler: @escaping @Sendable (SocketIOClientLifecycleEvent) -> Void)
        -> SocketIOClientListener
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
    public func on(clientEvent kind: SocketIOClientLifecycleEvent.Kind, callback: @escaping SocketIOClientHandler) -> SocketIOClientListener
    {
        self.on(clientEvent: kind) { (event: SocketIOClientLifecycleEvent) in callback(event.data, SocketIOClientAck.none) }
    }

    /// Removes the listeners of one kind of lifecycle event, except those of ``onLifecycle(_:)``.
    public func off(clientEvent kind: SocketIOClientLifecycleEvent.Kind) {
        self.core.onLoop { $0.handlers.removeLifecycle(kind) }
    }
}
