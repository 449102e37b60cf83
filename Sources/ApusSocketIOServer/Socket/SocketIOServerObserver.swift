/// Observes the sockets and events of a Socket.IO server, for metrics and traces.
///
/// A server calls its observers on the event loop of the socket, where they must not block. For an
/// asynchronous handler, `handle` and `failed` are called in the task of the handler. The product
/// `ApusObservability` has observers for swift-metrics and swift-distributed-tracing.
public protocol SocketIOServerObserver: Sendable {
    /// Called when a socket has joined its namespace, before the handlers of `onConnection`. A
    /// client in several namespaces has a socket in each.
    func connected(_ socket: SocketIOServerSocket)
    /// Called when a socket has left its namespace.
    func disconnected(_ socket: SocketIOServerSocket, reason: SocketIOServerDisconnectReason)
    /// Called for each received event, before its listeners and middleware.
    func received(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket)
    /// Called for each event that is sent to a socket, once for each recipient of a broadcast. Acks
    /// are not events.
    func sent(_ event: String, to socket: SocketIOServerSocket)
    /// Called when the wait for a client's ack ends, once for each recipient of a broadcast.
    ///
    /// Not called for a late ack, nor for an event that was not sent, because it could not be
    /// encoded, was volatile and dropped, or exceeded
    /// ``SocketIOServerConfiguration/maximumPendingAcks``.
    ///
    /// - Parameters:
    ///   - event: The name of the event.
    ///   - socket: The recipient.
    ///   - end: The reason.
    ///   - time: The time since the event was sent.
    func ackEnded(_ event: String, on socket: SocketIOServerSocket, _ end: SocketIOAckEnd, after time: Duration)
    /// Called when the middleware or a handler of an event has thrown an error, or when the
    /// arguments do not match the types of a handler.
    func failed(_ event: SocketIOReceivedEvent, _ error: any Error, on socket: SocketIOServerSocket)
    /// Runs a synchronous handler of an event, or of all events (`onAny`). It must call `handler`
    /// exactly once and throw its error.
    func handle(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: () throws -> Void) throws
    /// Runs an asynchronous handler of an event, in the task of the handler. It must call `handler`
    /// exactly once and throw its error.
    func handle(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: @Sendable () async throws -> Void) async throws
}

/// The reason why the wait for a client's ack ended.
public enum SocketIOAckEnd: String, Sendable, Hashable, CaseIterable {
    /// The client acknowledged the event.
    case answered
    /// The timeout elapsed: that of the event or that of the broadcast.
    case timedOut = "timed out"
    /// The client disconnected, or the server disconnected it.
    case disconnected
    /// The task that waited was cancelled.
    case cancelled
}

// The default implementations.
extension SocketIOServerObserver {
    /// Does nothing.
    public func connected(_ socket: SocketIOServerSocket) {}
    /// Does nothing.
    public func disconnected(_ socket: SocketIOServerSocket, reason: SocketIOServerDisconnectReason) {}
    /// Does nothing.
    public func received(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket) {}
    /// Does nothing.
    public func sent(_ event: String, to socket: SocketIOServerSocket) {}
    /// Does nothing.
    public func ackEnded(_ event: String, on socket: SocketIOServerSocket, _ end: SocketIOAckEnd, after time: Duration) {}
    /// Does nothing.
    public func failed(_ event: SocketIOReceivedEvent, _ error: any Error, on socket: SocketIOServerSocket) {}

    /// Runs the handler.
    public func handle(_ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: () throws -> Void) throws {
        try handler()
    }

    /// Runs the handler.
    public func handle(
        _ event: SocketIOReceivedEvent, on socket: SocketIOServerSocket, _ handler: @Sendable () async throws -> Void
    ) async throws {
        try await handler()
    }
}

extension SocketIOServerSocket {
    /// Runs a synchronous handler inside of all observers, the first one outermost.
    func observed(_ event: SocketIOReceivedEvent, by observers: ArraySlice<any SocketIOServerObserver>, _ handler: () throws -> Void) throws
    {
        guard let first = observers.first else { return try handler() }
        try first.handle(event, on: self) { try self.observed(event, by: observers.dropFirst(), handler) }
    }

    /// Runs an asynchronous handler inside of all observers, the first one outermost.
    func observed(
        _ event: SocketIOReceivedEvent, by observers: ArraySlice<any SocketIOServerObserver>,
        _ handler: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard let first = observers.first else { return try await handler() }
        try await first.handle(event, on: self) { try await self.observed(event, by: observers.dropFirst(), handler) }
    }
}
