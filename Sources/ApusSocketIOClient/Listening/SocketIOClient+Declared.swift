public import ApusSocketIOProtocol

extension SocketIOClient {
    /// Listens to a declared event. If the server requested an ack, an empty one is sent.
    @discardableResult
    public func on<each Argument: Codable & Sendable>(
        _ event: SocketIOEvent<repeat each Argument>, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOClientListener {
        self.addTyped(event.name, isOnce: false, handler)
    }

    /// Listens to the next occurrence of a declared event only.
    @discardableResult
    public func once<each Argument: Codable & Sendable>(
        _ event: SocketIOEvent<repeat each Argument>, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) -> SocketIOClientListener {
        self.addTyped(event.name, isOnce: true, handler)
    }

    /// Listens to a declared event with an ack. The handler's result is the ack.
    @discardableResult
    public func on<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketIORequest<repeat each Argument, Answer>, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) -> SocketIOClientListener {
        self.addTyped(request.name, isOnce: false, handler)
    }

    /// Removes all listeners of a declared event, and ends its message streams.
    public func off<each Argument: Codable & Sendable>(_ event: SocketIOEvent<repeat each Argument>) {
        self.off(event.name)
    }
}
