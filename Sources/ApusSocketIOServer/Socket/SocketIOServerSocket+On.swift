import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// Listening. Arguments are decoded to the handler's types. If they do not match, the handler is not
// called and no ack is sent, so that the client's ack times out as with an unknown event. Decoding
// errors and errors of handlers are passed to the configuration's `onHandlerError`.
extension SocketIOServerSocket {
    /// Listens to an event in its received form. The handler sends the ack, immediately or later.
    @discardableResult
    public func on(_ event: String, handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.add(.synchronous(handler), for: event)
    }

    /// Listens to an event in its received form with an asynchronous handler. A socket's
    /// asynchronous handlers run one after the other.
    @discardableResult
    public func on(_ event: String, handler: @escaping @Sendable (SocketIOEvent) async throws -> Void) -> SocketIOListener {
        self.add(.asynchronous(handler), for: event)
    }

    /// Listens to the next event of this name only.
    @discardableResult
    public func once(_ event: String, handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.add(.synchronous(handler), for: event, isOnce: true)
    }

    /// Listens to an event with typed arguments. The handler's return value is the ack.
    ///
    /// The handler runs on the event loop and must not block. If it throws, no ack is sent.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event)
    }

    /// Listens to an event with typed arguments. An ack that the client requests is empty.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event)
    }

    /// Listens to the next event of this name only. The handler's return value is the ack.
    @discardableResult
    public func once<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event, isOnce: true)
    }

    /// Listens to the next event of this name only. An ack that the client requests is empty.
    @discardableResult
    public func once<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event, isOnce: true)
    }

    /// Listens with an asynchronous handler. Its return value is the ack. A socket's asynchronous
    /// handlers run one after the other.
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

    /// Listens with an asynchronous handler. An ack that the client requests is empty and sent when
    /// the handler returns.
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
            if case .closed = self.state { return }  // no more events, and the handler would never be released
            body(self)
        }
    }
}

// Catch-all listeners, middleware and removal.
extension SocketIOServerSocket {
    /// Adds a check of every event from this client. Checks run in the order added, after catch-all
    /// listeners and before the listeners of the event. An error stops the event and is passed to
    /// the configuration's `onHandlerError`.
    public func use(_ middleware: @escaping @Sendable (SocketIOEvent) throws -> Void) {
        self.onLoopWhileOpen { $0.listeners.addMiddleware(.synchronous(middleware)) }
    }

    /// Adds an asynchronous check of every event from this client. Events keep their order: the
    /// next ones wait during a check.
    public func use(_ middleware: @escaping @Sendable (SocketIOEvent) async throws -> Void) {
        self.onLoopWhileOpen { $0.listeners.addMiddleware(.asynchronous(middleware)) }
    }

    /// Listens to every event, before middleware and before the listeners of the event.
    @discardableResult
    public func onAny(_ handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.addAny(handler, first: false)
    }

    /// Listens to every event, before the existing catch-all listeners.
    @discardableResult
    public func prependAny(_ handler: @escaping @Sendable (SocketIOEvent) throws -> Void) -> SocketIOListener {
        self.addAny(handler, first: true)
    }

    /// Listens to every event that is sent to this client, by `emit` or by a broadcast. Acks are
    /// not events.
    @discardableResult
    public func onAnyOutgoing(
        _ handler: @escaping @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void
    ) -> SocketIOListener {
        self.addOutgoing(handler, first: false)
    }

    /// Listens to every event that is sent to this client, before the existing listeners to
    /// outgoing events.
    @discardableResult
    public func prependAnyOutgoing(
        _ handler: @escaping @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void
    ) -> SocketIOListener {
        self.addOutgoing(handler, first: true)
    }

    /// Removes a listener of any kind.
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
