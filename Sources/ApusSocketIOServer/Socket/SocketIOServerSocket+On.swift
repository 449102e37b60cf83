import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// Listening. Arguments are decoded to the handler's types; an event whose arguments do not fit is not delivered to that handler,
// and the client that waits for an ack runs into its timeout, as with a server that does not know the event. What does not fit and
// what a handler throws goes to the configuration's `onHandlerError`.
extension SocketIOServerSocket {
    /// Listens to an event as it arrived. The ack, if any, is the handler's to send, at once or later.
    @discardableResult
    public func on(_ event: String, handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.add(.synchronous(handler), for: event)
    }

    /// Listens to an event as it arrived, asynchronously. A socket's asynchronous handlers run one after the other.
    @discardableResult
    public func on(_ event: String, handler: @escaping @Sendable (SocketIOEvent) async throws -> Void) -> SocketIOListener {
        self.add(.asynchronous(handler), for: event)
    }

    /// Listens to the next event of this name only.
    @discardableResult
    public func once(_ event: String, handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.add(.synchronous(handler), for: event, isOnce: true)
    }

    /// Listens to an event with typed arguments; what the handler returns is the ack.
    ///
    /// The handler runs on the event loop: it must not block. An error it throws means no ack.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event)
    }

    /// Listens to an event with typed arguments. The ack, if the client asked for one, is empty.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event)
    }

    /// Listens to the next event of this name only; what the handler returns is the ack.
    @discardableResult
    public func once<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event, isOnce: true)
    }

    /// Listens to the next event of this name only. The ack, if the client asked for one, is empty.
    @discardableResult
    public func once<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event, isOnce: true)
    }

    /// Listens with an asynchronous handler; what it returns is the ack. A socket's asynchronous handlers run one after the other.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Answer
    ) -> SocketIOListener {
        let body: @Sendable (SocketIOEvent) async throws -> Void = { event in
            let answer = try await handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            try event.acknowledge(encoding: answer)
        }
        return self.add(.asynchronous(body), for: event)
    }

    /// Listens with an asynchronous handler. The ack, if the client asked for one, is empty and sent when the handler is done.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) -> SocketIOListener {
        let body: @Sendable (SocketIOEvent) async throws -> Void = { event in
            try await handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            event.acknowledge()
        }
        return self.add(.asynchronous(body), for: event)
    }

    private static func synchronous<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> @Sendable (SocketIOEvent) throws -> Void {
        { event in
            let answer = try handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            try event.acknowledge(encoding: answer)
        }
    }

    private static func synchronous<each Argument: Decodable & Sendable>(
        _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> @Sendable (SocketIOEvent) throws -> Void {
        { event in
            try handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            event.acknowledge()
        }
    }

    private func add(_ handler: SocketIOHandler, for event: String, isOnce: Bool = false) -> SocketIOListener {
        let listener = SocketIOListener()
        self.onLoopWhileOpen { $0.listeners.add(.init(listener: listener, handler: handler), for: event, isOnce: isOnce) }
        return listener
    }

    private func onLoopWhileOpen(_ body: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.eventLoop.runOnLoop {
            if case .closed = self.state { return }  // nothing comes any more, and a handler kept now would be kept for ever
            body(self)
        }
    }
}

// Listening to everything, checking, and letting go.
extension SocketIOServerSocket {
    /// Checks every event of this client before its listeners get it (catch-all listeners come first). Checks run in the order added; what
    /// one throws keeps the event from the others and from the listeners, and goes to the configuration's `onHandlerError`.
    public func use(_ middleware: @escaping @Sendable (SocketIOEvent) throws -> Void) {
        self.onLoopWhileOpen { $0.listeners.addMiddleware(.synchronous(middleware)) }
    }

    /// Checks every event of this client asynchronously. The events keep their order: while one is checked, the next ones wait.
    public func use(_ middleware: @escaping @Sendable (SocketIOEvent) async throws -> Void) {
        self.onLoopWhileOpen { $0.listeners.addMiddleware(.asynchronous(middleware)) }
    }

    /// Listens to every event, before middleware and before the listeners of its name.
    @discardableResult
    public func onAny(_ handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.addAny(handler, first: false)
    }

    /// Listens to every event, before the catch-all listeners there are.
    @discardableResult
    public func prependAny(_ handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.addAny(handler, first: true)
    }

    /// Hears of every event that goes to this client, by `emit` or by a broadcast. Acks are not events.
    @discardableResult
    public func onAnyOutgoing(
        _ handler: @escaping @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void
    ) -> SocketIOListener {
        self.addOutgoing(handler, first: false)
    }

    /// Hears of every event that goes to this client, before those who do so already.
    @discardableResult
    public func prependAnyOutgoing(
        _ handler: @escaping @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void
    ) -> SocketIOListener {
        self.addOutgoing(handler, first: true)
    }

    /// Removes a listener, of whatever kind.
    public func off(_ listener: SocketIOListener) {
        self.eventLoop.runOnLoop { self.listeners.remove(listener) }
    }

    /// Removes all listeners of an event.
    public func off(_ event: String) {
        self.eventLoop.runOnLoop { self.listeners.removeAll(for: event) }
    }

    /// Removes all catch-all listeners.
    public func offAny() {
        self.eventLoop.runOnLoop { self.listeners.removeAllAny() }
    }

    /// Removes all listeners to outgoing events.
    public func offAnyOutgoing() {
        self.eventLoop.runOnLoop { self.listeners.removeAllOutgoing() }
    }

    private func addAny(_ handler: @escaping @Sendable (SocketIOEvent) throws -> Void, first: Bool) -> SocketIOListener {
        let listener = SocketIOListener()
        self.onLoopWhileOpen { $0.listeners.addAny(.init(listener: listener, handler: .synchronous(handler)), first: first) }
        return listener
    }

    private func addOutgoing(_ handler: @escaping SocketIOOutgoingHandler, first: Bool) -> SocketIOListener {
        let listener = SocketIOListener()
        self.onLoopWhileOpen { $0.listeners.addOutgoing(.init(listener: listener, handler: handler), first: first) }
        return listener
    }
}
