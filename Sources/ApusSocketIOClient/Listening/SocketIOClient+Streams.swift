public import ApusSocketIOProtocol

// Listening by `for await`.
extension SocketIOClient {
    /// The states of the socket, beginning with the present one. A slow reader misses the oldest.
    public var states: AsyncStream<SocketClientState> {
        let id = Self.makeID()
        let (stream, continuation) = AsyncStream.makeStream(of: SocketClientState.self, bufferingPolicy: .bufferingNewest(64))
        continuation.onTermination = { [weak core] _ in core?.onLoop { $0.removeStateStream(id: id) } }
        self.core.onLoop { $0.addStateStream(continuation, id: id) }
        return stream
    }

    /// What happens to the connection. A slow reader misses the oldest.
    public var lifecycle: AsyncStream<SocketLifecycleEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: SocketLifecycleEvent.self, bufferingPolicy: .bufferingNewest(256))
        let listener = SocketListener(id: Self.makeID())
        self.core.onLoop { $0.handlers.addLifecycle(.init(id: listener.id, handler: { continuation.yield($0) }, isInline: true)) }
        continuation.onTermination = { [weak core] _ in core?.onLoop { $0.removeListener(id: listener.id) } }
        return stream
    }

    /// The first argument of every event of this name, decoded.
    ///
    /// Goes on over reconnections and ends when the socket is disconnected for good: by ``disconnect()``, by the server, or when the policy
    /// gave up. Messages of another type are reported to the lifecycle listeners as `.error`.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - type: The type of its first argument.
    ///   - limit: Messages kept for a slow reader; above it the oldest go. Listen with `on` to miss none.
    public func messages<Message: Decodable & Sendable>(
        _ event: String, as type: Message.Type, bufferingNewest limit: Int = 1000
    ) -> AsyncStream<Message> {
        let (stream, continuation) = AsyncStream.makeStream(of: Message.self, bufferingPolicy: .bufferingNewest(max(1, limit)))
        self.feed(continuation, from: event) { (message: Message) in message }
        return stream
    }

    /// The arguments of every event declared so: the value itself where there is one, else a tuple. As ``messages(_:as:bufferingNewest:)``.
    public func messages<each Argument: Codable & Sendable>(
        _ event: SocketEvent<repeat each Argument>, bufferingNewest limit: Int = 1000
    ) -> AsyncStream<(repeat each Argument)> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: (repeat each Argument).self, bufferingPolicy: .bufferingNewest(max(1, limit)))
        self.feed(continuation, from: event.name) { (arguments: repeat each Argument) in (repeat each arguments) }
        return stream
    }

    private func feed<each Argument: Decodable & Sendable, Element: Sendable>(
        _ continuation: AsyncStream<Element>.Continuation, from event: String,
        _ element: @escaping @Sendable (repeat each Argument) -> Element
    ) {
        let listener = self.add(event, isInline: true) { [weak core] data, ack in
            Self.reporting(event, to: core) {
                let arguments = try SocketIOArguments.decode(data, as: repeat (each Argument).self)
                continuation.yield(element(repeat each arguments))
                ack.with(arguments: [])
            }
        }
        continuation.onTermination = { [weak core] _ in core?.onLoop { $0.removeListener(id: listener.id) } }
        self.core.onLoop { $0.addMessageEnd(id: listener.id) { continuation.finish() } }
    }
}
