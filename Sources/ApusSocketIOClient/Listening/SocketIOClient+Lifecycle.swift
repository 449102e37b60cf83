import ApusSocketIOProtocol

// Listening to the connection. No event of a server, whatever its name, comes here.
extension SocketIOClient {
    /// Listens to what happens to the connection.
    @discardableResult
    public func onLifecycle(_ handler: @escaping @Sendable (SocketLifecycleEvent) -> Void) -> SocketListener {
        self.listen { $0.addLifecycle(.init(id: $1, handler: handler)) }
    }

    /// Listens to one kind of what happens to the connection.
    @discardableResult
    public func on(clientEvent kind: SocketLifecycleEvent.Kind, handler: @escaping @Sendable (SocketLifecycleEvent) -> Void)
        -> SocketListener
    {
        self.listen { $0.addLifecycle(.init(id: $1, kind: kind, handler: handler)) }
    }

    /// Listens as users of socket.io-client-swift do.
    ///
    /// The data: the id (`connect`), the reason (`disconnect`), the message (`error`, `upgradeError`), the number of the attempt (`reconnectAttempt`),
    /// that of all attempts (`reconnect`), the state's name (`statusChange`), seconds where known (`pong`), else nothing. The ack is never expected.
    @discardableResult
    public func on(clientEvent kind: SocketLifecycleEvent.Kind, callback: @escaping SocketEventHandler) -> SocketListener {
        self.on(clientEvent: kind) { (event: SocketLifecycleEvent) in callback(event.data, SocketAck.none) }
    }

    /// Removes the listeners of one kind of what happens to the connection. Those of ``onLifecycle(_:)`` stay.
    public func off(clientEvent kind: SocketLifecycleEvent.Kind) {
        self.core.onLoop { $0.handlers.removeLifecycle(kind) }
    }
}
