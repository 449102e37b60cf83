import ApusSocketIOProtocol

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
        let listener = self.onLifecycle { continuation.yield($0) }
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
    ///   - limit: Messages kept for a slow reader; above it the oldest go. Listen with ``on(_:_:)-(_,SocketEventHandler)`` to miss none.
    public func messages<Message: Decodable & Sendable>(
        _ event: String, as type: Message.Type, bufferingNewest limit: Int = 1000
    ) -> AsyncStream<Message> {
        let (stream, continuation) = AsyncStream.makeStream(of: Message.self, bufferingPolicy: .bufferingNewest(max(1, limit)))
        let listener = self.on(event) { (message: Message) -> Void in _ = continuation.yield(message) }
        continuation.onTermination = { [weak core] _ in core?.onLoop { $0.removeListener(id: listener.id) } }
        self.core.onLoop { $0.addMessageEnd(id: listener.id) { continuation.finish() } }
        return stream
    }
}
