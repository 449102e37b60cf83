import ApusJSON
import ApusSocketIOProtocol

// Listening. Arguments are decoded to the handler's types; an event whose arguments do not fit is not delivered to that handler,
// and the client that waits for an ack runs into its timeout, as with a server that does not know the event.
extension SocketIOServerSocket {
    /// Listens to an event as it arrived. The ack, if any, is the handler's to send, at once or later.
    public func on(_ event: String, handler: @escaping @Sendable (SocketIOEvent) -> Void) {
        self.addHandler(.synchronous(handler), for: event)
    }

    /// Listens to every event, before the handlers of its name.
    public func onAny(_ handler: @escaping @Sendable (SocketIOEvent) -> Void) {
        self.addHandler(.synchronous(handler), for: nil)
    }

    /// Listens to an event with typed arguments; what the handler returns is the ack.
    ///
    /// The handler runs on the event loop: it must not block. An error it throws means no ack.
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Answer
    ) {
        self.on(event) { (event: SocketIOEvent) in
            guard let arguments = try? SocketIOArguments.decode(event.arguments, as: repeat (each Argument).self) else { return }
            guard let answer = try? handler(repeat each arguments) else { return }
            try? event.acknowledge(encoding: answer)
        }
    }

    /// Listens to an event with typed arguments. The ack, if the client asked for one, is empty.
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) throws -> Void
    ) {
        self.on(event) { (event: SocketIOEvent) in
            guard let arguments = try? SocketIOArguments.decode(event.arguments, as: repeat (each Argument).self) else { return }
            guard (try? handler(repeat each arguments)) != nil else { return }
            event.acknowledge()
        }
    }

    /// Listens with an asynchronous handler; what it returns is the ack. A socket's asynchronous handlers run one after the other.
    public func on<each Argument: Decodable & Sendable, Answer: Encodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Answer
    ) {
        self.addHandler(
            .asynchronous { event in
                guard let arguments = try? SocketIOArguments.decode(event.arguments, as: repeat (each Argument).self) else { return }
                guard let answer = try? await handler(repeat each arguments) else { return }
                try? event.acknowledge(encoding: answer)
            }, for: event)
    }

    /// Listens with an asynchronous handler. The ack, if the client asked for one, is empty and sent when the handler is done.
    public func on<each Argument: Decodable & Sendable>(
        _ event: String, _ handler: @escaping @Sendable (repeat each Argument) async throws -> Void
    ) {
        self.addHandler(
            .asynchronous { event in
                guard let arguments = try? SocketIOArguments.decode(event.arguments, as: repeat (each Argument).self) else { return }
                guard (try? await handler(repeat each arguments)) != nil else { return }
                event.acknowledge()
            }, for: event)
    }
}
