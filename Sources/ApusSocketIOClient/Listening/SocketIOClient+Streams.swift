public import ApusEventLoop
public import ApusSocketIOProtocol

extension SocketIOClient {
    /// Returns the states of the socket, starting with the current one.
    ///
    /// - Parameter policy: The policy for states that a slow reader has not read.
    ///   `.bufferingNewest(1)` keeps the latest state only.
    public func states(bufferingPolicy policy: BufferingPolicy) -> EventStream<SocketIOClientState> {
        let id = Self.makeID()
        let (stream, continuation) = EventStream.make(of: SocketIOClientState.self, bufferingPolicy: policy)
        continuation.onTermination = { [weak core] _ in core?.onLoop { $0.removeStateStream(id: id) } }
        self.core.onLoop { $0.addStateStream(continuation, id: id) }
        return stream
    }

    /// Returns the lifecycle events that occur after this call.
    ///
    /// - Parameter policy: The policy for events that a slow reader has not read. `.unbounded`
    ///   keeps all events in memory.
    public func lifecycle(bufferingPolicy policy: BufferingPolicy) -> EventStream<SocketIOClientLifecycleEvent> {
        let (stream, continuation) = EventStream.make(of: SocketIOClientLifecycleEvent.self, bufferingPolicy: policy)
        let listener = SocketIOClientListener(id: Self.makeID())
        self.core.onLoop { $0.hot.handlers.addLifecycle(.init(id: listener.id, handler: { continuation.yield($0) }, isInline: true)) }
        continuation.onTermination = { [weak core] _ in core?.onLoop { $0.removeListener(id: listener.id) } }
        return stream
    }

    /// Returns the decoded first argument of every event with this name.
    ///
    /// The stream continues across reconnections. It ends when the socket disconnects permanently:
    /// by ``disconnect()``, by the server, or when the reconnection policy permits no further
    /// attempt. An argument that does not decode is reported to the lifecycle listeners as
    /// `.error`.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - type: The type of the event's first argument.
    ///   - policy: The policy for messages that a slow reader has not read. The stream applies no
    ///     back-pressure: with `.unbounded`, the server can fill the memory of a reader that stops.
    ///     A listener that runs on the event loop misses no message.
    public func messages<Message: Decodable & Sendable>(
        _ event: String, as type: Message.Type, bufferingPolicy policy: BufferingPolicy
    ) -> EventStream<Message> {
        let (stream, continuation) = EventStream.make(of: Message.self, bufferingPolicy: policy)
        self.feed(continuation, from: event) { (message: Message) in message }
        return stream
    }

    /// Returns the arguments of every declared event: a single value, or a tuple. See
    /// ``messages(_:as:bufferingPolicy:)``.
    public func messages<each Argument: Codable & Sendable>(
        _ event: SocketIOEvent<repeat each Argument>,
        bufferingPolicy policy: BufferingPolicy
    ) -> EventStream<(repeat each Argument)> {
        let (stream, continuation) = EventStream.make(of: (repeat each Argument).self, bufferingPolicy: policy)
        self.feed(continuation, from: event.name) { (arguments: repeat each Argument) in (repeat each arguments) }
        return stream
    }

    private func feed<each Argument: Decodable & Sendable, Element: Sendable>(
        _ continuation: EventStream<Element>.Continuation, from event: String,
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
