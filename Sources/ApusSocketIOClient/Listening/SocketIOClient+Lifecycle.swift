import ApusEventLoop
import ApusSocketIOProtocol

// Lifecycle listeners. They never receive events of the server, whatever the names of the events.
extension SocketIOClient {
    /// Listens to all lifecycle events.
    @discardableResult
    public func onLifecycle(_ handler: @escaping @Sendable (SocketIOClientLifecycleEvent) -> Void) -> SocketIOClientListener {
        self.listen { $0.addLifecycle(.init(id: $1, handler: handler)) }
    }

    /// Listens to one kind of lifecycle event.
    ///
    /// - Parameters:
    ///   - kind: The kind of event.
    ///   - handler: The closure to call with each event of this kind.
    @discardableResult
    public func on(clientEvent kind: SocketIOClientLifecycleEvent.Kind, handler: @escaping @Sendable (SocketIOClientLifecycleEvent) -> Void)
        -> SocketIOClientListener
    {
        self.listen { $0.addLifecycle(.init(id: $1, kind: kind, handler: handler)) }
    }

    /// Removes the listeners of one kind of lifecycle event, except those of ``onLifecycle(_:)``.
    public func off(clientEvent kind: SocketIOClientLifecycleEvent.Kind) {
        self.core.onLoop { $0.hot.handlers.removeLifecycle(kind) }
    }
}
