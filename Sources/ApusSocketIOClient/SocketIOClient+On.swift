public import ApusSocketIOProtocol
public import ApusJSON

// Listening.
extension SocketIOClient {
    /// Listens to an event as it came.
    @discardableResult
    public func on(_ event: String, _ handler: @escaping SocketEventHandler) -> SocketListener {
        self.add(event, isOnce: false, handler)
    }

    /// Listens to the next event of this name only.
    @discardableResult
    public func once(_ event: String, _ handler: @escaping SocketEventHandler) -> SocketListener {
        self.add(event, isOnce: true, handler)
    }

    /// Listens to an event with typed arguments; what the handler returns is the ack.
    ///
    /// Arguments that do not fit, or an error thrown by the handler, are reported to the lifecycle listeners as `.error`; there is no ack then.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketListener {
        self.add(event, isOnce: false) { [weak core] data, ack in
            SocketIOClient.reporting(event, to: core) {
                let answer = try handler(repeat each SocketIOArguments.decode(data, as: repeat (each Argument).self))
                if ack.isExpected { ack.with(arguments: [try SocketIOArguments.value(of: answer)]) }
            }
        }
    }

    /// Listens to an event with typed arguments. The ack, if the server asked for one, is empty.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketListener {
        self.add(event, isOnce: false) { [weak core] data, ack in
            SocketIOClient.reporting(event, to: core) {
                try handler(repeat each SocketIOArguments.decode(data, as: repeat (each Argument).self))
                ack.with(arguments: [])
            }
        }
    }

    /// Listens to every event, before the listeners of its name.
    @discardableResult
    public func onAny(_ handler: @escaping @Sendable (_ event: String, _ data: [SocketIOValue]) -> Void) -> SocketListener {
        let listener = SocketListener(id: Self.makeID())
        self.core.onLoop { $0.handlers.addAny(handler, id: listener.id) }
        return listener
    }

    /// Listens to what happens to the connection.
    @discardableResult
    public func onLifecycle(_ handler: @escaping @Sendable (SocketLifecycleEvent) -> Void) -> SocketListener {
        let listener = SocketListener(id: Self.makeID())
        self.core.onLoop { $0.handlers.addLifecycle(handler, id: listener.id) }
        return listener
    }

    /// Listens to one kind of what happens to the connection.
    @discardableResult
    public func on(clientEvent kind: SocketLifecycleEvent.Kind, handler: @escaping @Sendable (SocketLifecycleEvent) -> Void)
        -> SocketListener
    {
        self.onLifecycle { event in
            if event.kind == kind { handler(event) }
        }
    }

    /// Removes a listener.
    public func off(_ listener: SocketListener) {
        self.core.onLoop { $0.removeListener(id: listener.id) }
    }

    /// Removes all listeners of an event.
    public func off(_ event: String) {
        self.core.onLoop { $0.handlers.removeAll(for: event) }
    }

    private func add(_ event: String, isOnce: Bool, _ handler: @escaping SocketEventHandler) -> SocketListener {
        let listener = SocketListener(id: Self.makeID())
        self.core.onLoop { $0.handlers.add(handler, id: listener.id, for: event, isOnce: isOnce) }
        return listener
    }

    /// Runs a typed listener and reports what it throws.
    private static func reporting(_ event: String, to core: SocketNamespaceCore?, _ body: () throws -> Void) {
        do {
            try body()
        } catch let error as SocketIOError {
            core?.report(.error(error))
        } catch {
            core?.report(.error(SocketIOError(.invalidPayload, message: "the listener for \"\(event)\" failed", cause: error)))
        }
    }
}
