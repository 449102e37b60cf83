import ApusSocketIOProtocol

// Listening by name. Where listeners are called says ``SocketManagerConfiguration/callbacks``; one that is removed may still get a call that
// was on its way.
extension SocketIOClient {
    /// Listens to an event as it came.
    @discardableResult
    public func on(_ event: String, _ handler: @escaping SocketEventHandler) -> SocketListener {
        self.add(event) { arguments, ack in handler(arguments.arguments, ack) }
    }

    /// Listens to the next event of this name only.
    @discardableResult
    public func once(_ event: String, _ handler: @escaping SocketEventHandler) -> SocketListener {
        self.add(event, isOnce: true) { arguments, ack in handler(arguments.arguments, ack) }
    }

    /// Listens to an event with typed arguments; what the handler returns is the ack.
    ///
    /// Arguments that do not fit, or an error thrown by the handler, are reported to the lifecycle listeners as `.error`; there is no ack then.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketListener {
        self.addTyped(event, isOnce: false, handler)
    }

    /// Listens to an event with typed arguments. The ack, if the server asked for one, is empty.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketListener {
        self.addTyped(event, isOnce: false, handler)
    }

    /// Listens to every event, before the listeners of its name.
    @discardableResult
    public func onAny(_ handler: @escaping SocketAnyEventHandler) -> SocketListener {
        self.listen { $0.addAny(.init(id: $1, handler: handler), first: false) }
    }

    /// Listens to every event, before all others who do.
    @discardableResult
    public func prependAny(_ handler: @escaping SocketAnyEventHandler) -> SocketListener {
        self.listen { $0.addAny(.init(id: $1, handler: handler), first: true) }
    }

    /// Listens to every event that this side emits: when it is taken, whether it leaves at once or waits for a connection, and not when it is
    /// dropped or cannot be encoded.
    @discardableResult
    public func onAnyOutgoing(_ handler: @escaping SocketAnyEventHandler) -> SocketListener {
        self.listen { $0.addAnyOutgoing(.init(id: $1, handler: handler), first: false) }
    }

    /// Listens to every event that this side emits, before all others who do.
    @discardableResult
    public func prependAnyOutgoing(_ handler: @escaping SocketAnyEventHandler) -> SocketListener {
        self.listen { $0.addAnyOutgoing(.init(id: $1, handler: handler), first: true) }
    }

    /// Removes a listener.
    public func off(_ listener: SocketListener) {
        self.core.onLoop { $0.removeListener(id: listener.id) }
    }

    /// Removes all listeners of an event, and ends the streams of its messages.
    public func off(_ event: String) {
        self.core.onLoop { core in core.endStreams(core.handlers.removeAll(for: event)) }
    }

    /// Removes all listeners, those to the lifecycle too, and ends the streams of messages.
    public func removeAllHandlers() {
        self.core.onLoop { core in core.endStreams(core.handlers.removeAll()) }
    }
}

extension SocketIOClient {
    func listen(_ add: @escaping @Sendable (inout SocketHandlers, Int) -> Void) -> SocketListener {
        let listener = SocketListener(id: Self.makeID())
        self.core.onLoop { add(&$0.handlers, listener.id) }
        return listener
    }

    func add(_ event: String, isOnce: Bool = false, isInline: Bool = false, _ handler: @escaping SocketPayloadHandler) -> SocketListener {
        self.listen { $0.add(.init(id: $1, handler: handler, isOnce: isOnce, isInline: isInline), for: event) }
    }

    func addTyped<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, isOnce: Bool, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketListener {
        self.add(event, isOnce: isOnce) { [weak core] data, ack in
            SocketIOClient.reporting(event, to: core) {
                let answer = try handler(repeat each SocketIOArguments.decode(data, as: repeat (each Argument).self))
                if ack.isExpected { ack.with(arguments: [try SocketIOArguments.value(of: answer)]) }
            }
        }
    }

    func addTyped<each Argument: Decodable & Sendable>(
        _ event: String, isOnce: Bool, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketListener {
        self.add(event, isOnce: isOnce) { [weak core] data, ack in
            SocketIOClient.reporting(event, to: core) {
                try handler(repeat each SocketIOArguments.decode(data, as: repeat (each Argument).self))
                ack.with(arguments: [])
            }
        }
    }

    /// Runs a typed listener and reports what it throws.
    static func reporting(_ event: String, to core: SocketNamespaceCore?, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            let error =
                error as? SocketIOError ?? SocketIOError(.invalidPayload, message: "the listener for \"\(event)\" failed", cause: error)
            core?.onLoop { $0.report(.error(error)) }
        }
    }
}
