public import ApusSocketIOProtocol

// Declared events: the same operations, with the name and the types from one declaration.
extension SocketIOServerSocket {
    /// Listens to a declared event. An ack that the client requests is empty. The handler runs on
    /// the event loop and must not block.
    @discardableResult
    public func on<each Argument: Codable & Sendable>(
        _ event: SocketEvent<repeat each Argument>, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOListener {
        self.on(event.name, handler)
    }

    /// Listens to a declared event with an asynchronous handler. A socket's asynchronous handlers
    /// run one after the other.
    @discardableResult
    public func on<each Argument: Codable & Sendable>(
        _ event: SocketEvent<repeat each Argument>, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) -> SocketIOListener {
        self.on(event.name, handler)
    }

    /// Listens to a declared request. The handler's return value is the ack. The handler runs on
    /// the event loop and must not block.
    @discardableResult
    public func on<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketRequest<repeat each Argument, Answer>, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOListener {
        self.on(request.name, handler)
    }

    /// Listens to a declared request with an asynchronous handler. A socket's asynchronous handlers
    /// run one after the other.
    @discardableResult
    public func on<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketRequest<repeat each Argument, Answer>, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Answer
    ) -> SocketIOListener {
        self.on(request.name, handler)
    }

    /// Sends a declared event to this client.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }

    /// Sends a declared request and waits for the client's answer. Throws the errors of
    /// ``emitWithAck(_:_:timeout:as:)``.
    public func emitWithAck<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketRequest<repeat each Argument, Answer>, _ arguments: repeat each Argument, timeout: Duration? = nil
    ) async throws -> Answer {
        try await self.emitWithAck(request.name, repeat each arguments, timeout: timeout, as: Answer.self)
    }
}

extension SocketIOEmitter {
    /// Sends a declared event to this client.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }

    /// Sends a declared request and waits for the client's answer. Throws the errors of
    /// ``SocketIOServerSocket/emitWithAck(_:_:timeout:as:)``.
    public func emitWithAck<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketRequest<repeat each Argument, Answer>, _ arguments: repeat each Argument
    ) async throws -> Answer {
        try await self.emitWithAck(request.name, repeat each arguments, as: Answer.self)
    }
}

extension SocketIOBroadcasting {
    /// Sends a declared event to every recipient.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }
}
