import ApusEventLoop
import ApusSocketIOProtocol
import NIOCore

// Listeners run in the context of ``SocketIOManagerConfiguration/callbacks``. A removed listener
// may still receive a call that was scheduled before its removal.
extension SocketIOClient {
    /// Listens to an event, with its arguments as values.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - handler: The closure to call with the arguments and the ack.
    @discardableResult
    public func on(_ event: String, _ handler: @escaping SocketIOClientHandler) -> SocketIOClientListener {
        self.add(event) { arguments, ack in handler(arguments.arguments, ack) }
    }

    /// Listens to the next event with this name only.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - handler: The closure to call once, with the arguments and the ack.
    @discardableResult
    public func once(_ event: String, _ handler: @escaping SocketIOClientHandler) -> SocketIOClientListener {
        self.add(event, isOnce: true) { arguments, ack in handler(arguments.arguments, ack) }
    }

    /// Listens to an event with typed arguments. The handler's result is the ack.
    ///
    /// If the arguments do not decode or the handler throws, the lifecycle listeners receive
    /// `.error` and no ack is sent.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOClientListener {
        self.addTyped(event, isOnce: false, handler)
    }

    /// Listens to an event with typed arguments. If the server requested an ack, an empty one is
    /// sent.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOClientListener {
        self.addTyped(event, isOnce: false, handler)
    }

    /// Listens to every event, before the listeners of its name.
    @discardableResult
    public func onAny(_ handler: @escaping SocketIOClientAnyHandler) -> SocketIOClientListener {
        self.listen { $0.events.addAny(handler, id: $1, first: false) }
    }

    /// Listens to every event, before the existing listeners of all events.
    @discardableResult
    public func prependAny(_ handler: @escaping SocketIOClientAnyHandler) -> SocketIOClientListener {
        self.listen { $0.events.addAny(handler, id: $1, first: true) }
    }

    /// Listens to every event that this client emits, before it is sent or buffered. Volatile
    /// events that are dropped and events that cannot be encoded are not included. Events for which
    /// the buffer has no space are included.
    @discardableResult
    public func onAnyOutgoing(_ handler: @escaping SocketIOClientAnyHandler) -> SocketIOClientListener {
        self.listen { $0.events.addOutgoing(handler, id: $1, first: false) }
    }

    /// Listens to every event that this client emits, before the existing listeners to outgoing
    /// events.
    @discardableResult
    public func prependAnyOutgoing(_ handler: @escaping SocketIOClientAnyHandler) -> SocketIOClientListener {
        self.listen { $0.events.addOutgoing(handler, id: $1, first: true) }
    }

    /// Removes a listener. If the method is called outside the event loop, the removal takes effect
    /// in a later turn of the loop: an event that arrives before that turn still reaches the
    /// listener. The other methods that remove listeners behave likewise.
    public func off(_ listener: SocketIOClientListener) {
        self.core.onLoop { $0.removeListener(id: listener.id) }
    }

    /// Removes all listeners of an event, and ends its message streams.
    public func off(_ event: String) {
        self.core.onLoop { core in core.endStreams(core.hot.handlers.events.removeAll(for: event)) }
    }

    /// Removes all listeners, including lifecycle listeners, and ends all message streams. The
    /// streams of ``lifecycle(bufferingPolicy:)`` continue.
    public func removeAllHandlers() {
        self.core.onLoop { core in core.endStreams(core.hot.handlers.removeAll()) }
    }
}

extension SocketIOClient {
    func listen(_ add: @escaping @Sendable (inout SocketIOClientListeners, Int) -> Void) -> SocketIOClientListener {
        let listener = SocketIOClientListener(id: Self.makeID())
        self.core.onLoop { add(&$0.hot.handlers, listener.id) }
        return listener
    }

    func add(_ event: String, isOnce: Bool = false, isInline: Bool = false, _ handler: @escaping SocketIOClientPayloadHandler)
        -> SocketIOClientListener
    {
        self.listen { $0.events.add(.init(body: handler, isInline: isInline), id: $1, for: event, isOnce: isOnce) }
    }

    func addTyped<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, isOnce: Bool, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOClientListener {
        self.add(event, isOnce: isOnce) { [weak core] data, ack in
            SocketIOClient.reporting(event, to: core) {
                let answer = try handler(repeat each SocketIOArguments.decode(data, as: repeat (each Argument).self))
                if ack.isExpected { ack.with(arguments: [try SocketIOArguments.value(of: answer)]) }
            }
        }
    }

    func addTyped<each Argument: Decodable & Sendable>(
        _ event: String, isOnce: Bool, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOClientListener {
        self.add(event, isOnce: isOnce) { [weak core] data, ack in
            SocketIOClient.reporting(event, to: core) {
                try handler(repeat each SocketIOArguments.decode(data, as: repeat (each Argument).self))
                ack.with(arguments: [])
            }
        }
    }

    /// Runs a typed listener and reports its error.
    static func reporting(_ event: String, to core: NIOLoopBoundBox<SocketIOClientNamespaceCore>?, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let error =
                error as? SocketIOError ?? SocketIOError(.invalidPayload, message: "the listener for \"\(event)\" failed", cause: error)
            core?.onLoop { $0.report(.error(error)) }
        }
    }
}
