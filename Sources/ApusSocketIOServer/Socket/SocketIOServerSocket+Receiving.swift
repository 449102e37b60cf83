import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusEventLoop
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// Incoming events: catch-all listeners, then middleware, then the listeners of the event.
extension SocketIOServerSocket {
    /// Passes an event to the catch-all listeners, the middleware, and the listeners of the event.
    func received(_ event: SocketIOReceivedEvent) {
        for observer in self.shared.observers { observer.received(event, on: self) }
        guard self.hot.listeners.hasCatchAllListeners else { return self.dispatch(event) }
        for entry in self.hot.listeners.any { self.run(entry.handler, event) }
        self.check(event, by: self.hot.listeners.middleware[...])
    }

    /// Passes an event to the remaining middleware, and then to the listeners of the event.
    private func check(_ event: SocketIOReceivedEvent, by checks: ArraySlice<SocketIOHandler>) {
        var rest = checks
        while let check = rest.popFirst() {
            switch check {
            case .synchronous(let body):
                do { try body(event) } catch { return self.report(error, event) }
            case .asynchronous(let body):
                let remaining = rest
                let event = event.detached  // stored until the check runs
                // The queue preserves the order of the events: the check of the next event
                // starts when the check of this event has ended.
                return self.enqueue(event.bytes) {
                    do {
                        try await body(event)
                        try? await self.eventLoop.submit { self.check(event, by: remaining) }.get()
                    } catch {
                        self.report(error, event)
                    }
                }
            }
        }
        self.dispatch(event)
    }

    private func dispatch(_ event: SocketIOReceivedEvent) {
        guard case .open = self.hot.state else { return }  // the socket closed during a listener or a check
        self.hot.listeners.take(event.name)?.forEach { self.run($0, event) }
    }

    private func run(_ handler: SocketIOHandler, _ event: SocketIOReceivedEvent) {
        switch handler {
        case .synchronous(let body):
            do {
                if self.shared.observers.isEmpty {
                    try body(event)
                } else {
                    try self.observed(event, by: self.shared.observers[...]) { try body(event) }
                }
            } catch {
                self.report(error, event)
            }
        case .asynchronous(let body):
            let event = event.detached  // stored until the handler runs
            self.enqueue(event.bytes) {
                do {
                    try await self.observed(event, by: self.shared.observers[...]) { try await body(event) }
                } catch {
                    self.report(error, event)
                }
            }
        }
    }

    private func enqueue(_ bytes: Int, _ work: @escaping @Sendable () async -> Void) {
        self.eventLoop.assertInEventLoop()
        guard case .open = self.hot.state, let connection = self.hot.connection else { return }
        let queue =
            self.asyncQueue
            ?? SocketIOHandlerQueue(maximumWaiting: self.shared.maximumWaitingEvents, waitingBytes: connection.waitingEvents)
        self.asyncQueue = queue
        let bound: String
        switch queue.enqueue(bytes: bytes, work) {
        case .taken: return
        case .tooMany: bound = "\(self.shared.maximumWaitingEvents) events wait for their handlers (`maximumWaitingEvents`)"
        case .tooLarge: bound = "\(connection.waitingEvents.maximum) bytes of events wait for their handlers (`maximumWaitingEventBytes`)"
        }
        // The handlers are too slow for this client. No DISCONNECT is sent, so that the client may
        // reconnect.
        connection.close(.forcedClose, detail: "more than \(bound)")
    }

    private func report(_ error: any Error, _ event: SocketIOReceivedEvent) {
        for observer in self.shared.observers { observer.failed(event, error, on: self) }
        if let hook = self.shared.onHandlerError { return hook(error, event, self) }
        self.namespace.reportHandlerError(error, event)
    }
}

// Listening. Arguments are decoded to the handler's types. If they do not match, the handler is not
// called and no ack is sent, so that the client's request times out as for an unknown event.
// Decoding errors and errors of handlers are passed to the configuration's `onHandlerError`.
extension SocketIOServerSocket {
    /// Listens to an event without decoding its arguments. The handler sends the ack, immediately
    /// or later.
    @discardableResult
    public func on(_ event: String, handler: @escaping @Sendable (SocketIOReceivedEvent) throws -> Void) -> SocketIOServerListener {
        self.add(.synchronous(handler), for: event)
    }

    /// Listens to an event with an asynchronous handler, without decoding the arguments. A socket's
    /// asynchronous handlers run one after the other.
    @discardableResult
    public func on(_ event: String, handler: @escaping @Sendable (SocketIOReceivedEvent) async throws -> Void) -> SocketIOServerListener {
        self.add(.asynchronous(handler), for: event)
    }

    /// Listens to the next event with this name only, without decoding its arguments.
    @discardableResult
    public func once(_ event: String, handler: @escaping @Sendable (SocketIOReceivedEvent) throws -> Void) -> SocketIOServerListener {
        self.add(.synchronous(handler), for: event, isOnce: true)
    }

    /// Listens to an event with typed arguments. The handler's return value is the ack.
    ///
    /// The handler runs on the event loop and must not block. If it throws, no ack is sent.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOServerListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event)
    }

    /// Listens to an event with typed arguments. If the client requested an ack, an empty one is
    /// sent.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOServerListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event)
    }

    /// Listens to the next event with this name only. The handler's return value is the ack.
    @discardableResult
    public func once<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOServerListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event, isOnce: true)
    }

    /// Listens to the next event with this name only. If the client requested an ack, an empty one
    /// is sent.
    @discardableResult
    public func once<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOServerListener {
        self.add(.synchronous(Self.synchronous(handler)), for: event, isOnce: true)
    }

    /// Listens to an event with an asynchronous handler. The handler's return value is the ack. A
    /// socket's asynchronous handlers run one after the other.
    @discardableResult
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Answer
    ) -> SocketIOServerListener {
        let body: @Sendable (SocketIOReceivedEvent) async throws -> Void = { event in
            let answer = try await handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            try event.acknowledge(encoding: answer)
        }
        return self.add(.asynchronous(body), for: event)
    }

    /// Listens to an event with an asynchronous handler. If the client requested an ack, an empty
    /// one is sent when the handler returns.
    @discardableResult
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) -> SocketIOServerListener {
        let body: @Sendable (SocketIOReceivedEvent) async throws -> Void = { event in
            try await handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            event.acknowledge()
        }
        return self.add(.asynchronous(body), for: event)
    }

    private static func synchronous<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> @Sendable (SocketIOReceivedEvent) throws -> Void {
        { event in
            let answer = try handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            try event.acknowledge(encoding: answer)
        }
    }

    private static func synchronous<each Argument: Decodable & Sendable>(
        _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> @Sendable (SocketIOReceivedEvent) throws -> Void {
        { event in
            try handler(repeat each SocketIOArguments.decode(event.payload, as: repeat (each Argument).self))
            event.acknowledge()
        }
    }

    private func add(_ handler: SocketIOHandler, for event: String, isOnce: Bool = false) -> SocketIOServerListener {
        let listener = SocketIOServerListener()
        self.onLoopWhileOpen { $0.hot.listeners.add(handler, id: listener.id, for: event, isOnce: isOnce) }
        return listener
    }

    private func onLoopWhileOpen(_ body: @escaping @Sendable (SocketIOServerSocket) -> Void) {
        self.eventLoop.runOnLoop {
            if case .closed = self.hot.state { return }  // no more events, and the handler would never be released
            body(self)
        }
    }
}

// Catch-all listeners, middleware and removal.
extension SocketIOServerSocket {
    /// Adds a check of every event from this client. Checks run in the order added, after catch-all
    /// listeners and before the listeners of the event. An error stops the event and is passed to
    /// the configuration's `onHandlerError`.
    public func use(_ middleware: @escaping @Sendable (SocketIOReceivedEvent) throws -> Void) {
        self.onLoopWhileOpen { $0.hot.listeners.addMiddleware(.synchronous(middleware)) }
    }

    /// Adds an asynchronous check of every event from this client. Events stay in order: later
    /// events wait during a check.
    public func use(_ middleware: @escaping @Sendable (SocketIOReceivedEvent) async throws -> Void) {
        self.onLoopWhileOpen { $0.hot.listeners.addMiddleware(.asynchronous(middleware)) }
    }

    /// Listens to every event. The listener runs before middleware and the listeners of the event.
    @discardableResult
    public func onAny(_ handler: @escaping @Sendable (SocketIOReceivedEvent) throws -> Void) -> SocketIOServerListener {
        self.addAny(handler, first: false)
    }

    /// Listens to every event. The listener runs before the existing catch-all listeners.
    @discardableResult
    public func prependAny(_ handler: @escaping @Sendable (SocketIOReceivedEvent) throws -> Void) -> SocketIOServerListener {
        self.addAny(handler, first: true)
    }

    /// Listens to every event that is sent to this client, by `emit` or by a broadcast. Acks are
    /// not events.
    @discardableResult
    public func onAnyOutgoing(
        _ handler: @escaping @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void
    ) -> SocketIOServerListener {
        self.addOutgoing(handler, first: false)
    }

    /// Listens to every event that is sent to this client. The listener runs before the existing
    /// listeners to outgoing events.
    @discardableResult
    public func prependAnyOutgoing(
        _ handler: @escaping @Sendable (_ event: String, _ arguments: [SocketIOValue]) -> Void
    ) -> SocketIOServerListener {
        self.addOutgoing(handler, first: true)
    }

    /// Removes a listener to an event, to all events, or to outgoing events.
    public func off(_ listener: SocketIOServerListener) {
        self.eventLoop.runOnLoop { self.hot.listeners.remove(id: listener.id) }
    }

    /// Removes all listeners of an event.
    public func off(_ event: String) {
        self.eventLoop.runOnLoop { self.hot.listeners.removeAll(for: event) }
    }

    /// Removes all catch-all listeners.
    public func offAny() {
        self.eventLoop.runOnLoop { self.hot.listeners.removeAllAny() }
    }

    /// Removes all listeners to outgoing events.
    public func offAnyOutgoing() {
        self.eventLoop.runOnLoop { self.hot.listeners.removeAllOutgoing() }
    }

    private func addAny(_ handler: @escaping @Sendable (SocketIOReceivedEvent) throws -> Void, first: Bool) -> SocketIOServerListener {
        let listener = SocketIOServerListener()
        self.onLoopWhileOpen { $0.hot.listeners.addAny(.synchronous(handler), id: listener.id, first: first) }
        return listener
    }

    private func addOutgoing(_ handler: @escaping SocketIOOutgoingListener, first: Bool) -> SocketIOServerListener {
        let listener = SocketIOServerListener()
        self.onLoopWhileOpen { $0.hot.listeners.addOutgoing(handler, id: listener.id, first: first) }
        return listener
    }
}

// Methods for declared events. A declaration contains the name and the types of an event.
extension SocketIOServerSocket {
    /// Listens to a declared event. If the client requested an ack, an empty one is sent. The
    /// handler runs on the event loop and must not block.
    @discardableResult
    public func on<each Argument: Codable & Sendable>(
        _ event: SocketIOEvent<repeat each Argument>, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOServerListener {
        self.on(event.name, handler)
    }

    /// Listens to a declared event with an asynchronous handler. A socket's asynchronous handlers
    /// run one after the other.
    @discardableResult
    public func on<each Argument: Codable & Sendable>(
        _ event: SocketIOEvent<repeat each Argument>, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) -> SocketIOServerListener {
        self.on(event.name, handler)
    }

    /// Listens to a declared event with an ack. The handler's return value is the ack. The handler
    /// runs on the event loop and must not block.
    @discardableResult
    public func on<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketIORequest<repeat each Argument, Answer>, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOServerListener {
        self.on(request.name, handler)
    }

    /// Listens to a declared event with an ack, with an asynchronous handler. A socket's
    /// asynchronous handlers run one after the other.
    @discardableResult
    public func on<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketIORequest<repeat each Argument, Answer>,
        _ handler: @escaping @Sendable (repeat each Argument) async throws -> Answer
    ) -> SocketIOServerListener {
        self.on(request.name, handler)
    }
}
