import ApusBytes
import ApusConnectivity
import ApusEngineIOProtocol
import ApusEngineIOServer
import ApusEventLoop
public import ApusJSON
public import ApusSocketIOProtocol
import NIOCore

// Sending. An event that cannot be encoded is logged and not sent. After a disconnect, an emit has
// no effect, unless the client can resume: the event is then stored for the client.
extension SocketIOServerSocket {
    /// Sends an event to this client.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.emit(event, SocketIOPayload(arguments), SocketIOEmitFlags())
    }

    /// Sends an event with these arguments, each encoded by its `Encodable` conformance. `Data` is
    /// sent as a binary attachment.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, SocketIOPayload(try SocketIOArguments.encode(repeat each arguments)), SocketIOEmitFlags())
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event with received arguments, without decoding and encoding them again.
    public func emit(_ event: String, payload: SocketIOPayload) {
        self.emit(event, payload, SocketIOEmitFlags())
    }

    func emit(_ event: String, _ arguments: SocketIOPayload, _ flags: SocketIOEmitFlags) {
        do {
            var ackID: Int?
            if let recovery = self.namespace.recovery {
                guard flags.isVolatile || self.recoveryState == nil else {
                    let delivery = SocketIODelivery(
                        event: event, arguments: arguments, targets: SocketIOTargets(rooms: [self.id]), flags: flags)
                    return try recovery.deliver(delivery, in: self.namespace, to: self)
                }
                ackID = self.namespace.ackIDWithoutOffset(arguments)
            }
            let content = SocketIOPacket.Content.event(name: event, arguments: arguments, ackID: ackID)
            guard self.eventLoop.inEventLoop else {
                let outbound = try self.namespace.encode(content, isCompressed: flags.isCompressed)
                return self.eventLoop.execute { self.deliver(outbound, isVolatile: flags.isVolatile) }
            }
            guard let connection = self.outgoing(isVolatile: flags.isVolatile) else { return }
            try connection.send(content, namespace: self.namespace.name, isCompressed: flags.isCompressed)
            if self.isOutgoingWatched { self.notifyOutgoing(event, arguments) }
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    func deliver(_ outbound: SocketIOOutbound, isVolatile: Bool) {
        if let connection = self.outgoing(isVolatile: isVolatile) { self.send(outbound, on: connection) }
    }

    private func send(_ outbound: SocketIOOutbound, on connection: SocketIOConnection) {
        connection.send(outbound)
        if self.isOutgoingWatched, case .event(let name, let payload, _) = outbound.content { self.notifyOutgoing(name, payload) }
    }

    /// Returns the connection for an event; `nil` if the socket is closed, or if the event is
    /// volatile and the connection cannot send it now.
    private func outgoing(isVolatile: Bool) -> SocketIOConnection? {
        guard case .open = self.hot.state, let connection = self.hot.connection else { return nil }
        return isVolatile && !connection.session.isWritable ? nil : connection
    }

    private var isOutgoingWatched: Bool { !self.hot.listeners.outgoing.isEmpty || !self.shared.observers.isEmpty }

    private func notifyOutgoing(_ event: String, _ payload: SocketIOPayload) {
        for observer in self.shared.observers { observer.sent(event, to: self) }
        guard !self.hot.listeners.outgoing.isEmpty else { return }
        let arguments = payload.arguments
        for entry in self.hot.listeners.outgoing { entry.handler(event, arguments) }
    }

    // MARK: Flags

    /// Drops the next event if the client cannot receive it now: `socket.volatile.emit("position",
    /// x, y)`.
    public var volatile: SocketIOServerEmitter { SocketIOServerEmitter(socket: self).volatile }

    /// Sets whether the transport may compress the next event. Default: `true`.
    public func compress(_ isCompressed: Bool) -> SocketIOServerEmitter { SocketIOServerEmitter(socket: self).compress(isCompressed) }

    /// Sets the time that the next `emitWithAck` waits.
    public func timeout(_ timeout: Duration) -> SocketIOServerEmitter { SocketIOServerEmitter(socket: self).timeout(timeout) }
}

/// A socket with the options of the next event: `socket.volatile.compress(false).emit("frame",
/// bytes)`.
public struct SocketIOServerEmitter: Sendable {
    private let socket: SocketIOServerSocket
    private var flags = SocketIOEmitFlags()

    init(socket: SocketIOServerSocket) {
        self.socket = socket
    }

    /// Drops the event if the client cannot receive it now.
    public var volatile: SocketIOServerEmitter { self.with { $0.isVolatile = true } }

    /// Sets whether the transport may compress the event. Default: `true`.
    public func compress(_ isCompressed: Bool) -> SocketIOServerEmitter { self.with { $0.isCompressed = isCompressed } }

    /// Sets the time that `emitWithAck` waits.
    public func timeout(_ timeout: Duration) -> SocketIOServerEmitter { self.with { $0.timeout = timeout } }

    private func with(_ change: (inout SocketIOEmitFlags) -> Void) -> SocketIOServerEmitter {
        var copy = self
        change(&copy.flags)
        return copy
    }

    /// Sends an event to this client.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        self.socket.emit(event, SocketIOPayload(arguments), self.flags)
    }

    /// Sends an event with received arguments, without decoding and encoding them again.
    public func emit(_ event: String, payload: SocketIOPayload) {
        self.socket.emit(event, payload, self.flags)
    }

    /// Sends an event with these arguments, each encoded by its `Encodable` conformance. `Data` is
    /// sent as a binary attachment.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.socket.emit(event, SocketIOPayload(try SocketIOArguments.encode(repeat each arguments)), self.flags)
        } catch {
            self.socket.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event and waits for the client's ack. See
    /// ``SocketIOServerSocket/emitWithAck(_:arguments:timeout:)``.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue]) async throws -> [SocketIOValue] {
        try await self.socket.emitWithAck(event, arguments, self.flags)
    }

    /// Sends an event, waits for the client's ack and decodes the first argument of the ack. See
    /// ``SocketIOServerSocket/emitWithAck(_:_:timeout:as:)``.
    public func emitWithAck<Answer: Decodable, each Argument: Encodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, as type: Answer.Type
    ) async throws -> Answer {
        let values = try await self.socket.emitWithAck(event, try SocketIOArguments.encode(repeat each arguments), self.flags)
        return try SocketIOArguments.decode(values: values, as: type)
    }
}

/// A pending ack of a client. The completion is called exactly once: with the ack, at the deadline,
/// on cancellation, when the socket closes or, for a broadcast, at the broadcast's timeout.
struct PendingClientAck {
    let completion: @Sendable (Result<[SocketIOValue], any Error>) -> Void
    let event: String
    /// The timeout; `nil` for a broadcast, which has one timer for all recipients.
    let timeout: Duration?
    /// The time at which the event was sent; `nil` if the server has no observers.
    var sentAt: NIODeadline?
}

// Acks of clients, and acks to clients.
extension SocketIOServerSocket {
    /// Sends an event and waits for the client's ack.
    ///
    /// The timeout starts when the event is queued for the client, and includes the time in the
    /// queue. The event is sent once, without retries. Neither the timeout nor a cancellation
    /// withdraws the event: the client may still receive it, and a later ack is ignored.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: The time to wait for the ack. Default:
    ///     ``SocketIOServerConfiguration/ackTimeout``.
    /// - Returns: The ack's arguments.
    /// - Throws: `SocketIOError` with `ackTimeout`, `disconnected` (as soon as the client
    ///   disconnects), `bufferFull` (too many pending acks), `notConnected` (a volatile event that
    ///   was dropped) or `invalidUse`; `CancellationError`.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue], timeout: Duration? = nil) async throws -> [SocketIOValue] {
        try await self.emitWithAck(event, arguments, SocketIOEmitFlags(timeout: timeout))
    }

    /// Sends an event, waits for the client's ack and decodes the first argument of the ack.
    ///
    /// - Parameters:
    ///   - event: The event's name.
    ///   - arguments: The event's arguments.
    ///   - timeout: The time to wait for the ack. Default:
    ///     ``SocketIOServerConfiguration/ackTimeout``.
    ///   - type: The type of the ack's first argument. A missing argument is decoded as null.
    /// - Throws: The errors of ``emitWithAck(_:arguments:timeout:)``, and `invalidPayload` with the
    ///   decoder's error as its cause if the ack does not decode as `type`.
    public func emitWithAck<Answer: Decodable, each Argument: Encodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, timeout: Duration? = nil, as type: Answer.Type
    ) async throws -> Answer {
        let values = try await self.emitWithAck(event, arguments: try SocketIOArguments.encode(repeat each arguments), timeout: timeout)
        return try SocketIOArguments.decode(values: values, as: type)
    }

    /// Sends an event and calls `completion` once, on the socket's event loop, with the client's
    /// ack or an error of ``emitWithAck(_:arguments:timeout:)``.
    public func emitWithAck(
        _ event: String, arguments: [SocketIOValue], timeout: Duration? = nil,
        completion: @escaping @Sendable (Result<[SocketIOValue], any Error>) -> Void
    ) {
        self.eventLoop.runOnLoop {
            _ = self.emitWithAck(event, arguments, SocketIOEmitFlags(timeout: timeout), completion: completion)
        }
    }

    func emitWithAck(_ event: String, _ arguments: [SocketIOValue], _ flags: SocketIOEmitFlags) async throws -> [SocketIOValue] {
        try await withLoopOperation(on: self.eventLoop) { operation in
            guard let id = self.emitWithAck(event, arguments, flags, completion: { operation.end(with: $0) }) else { return }
            operation.whenCancelled { self.endAck(id, .cancelled) }
        }
    }

    /// Sends an event and starts the wait for its ack. Returns the ack id; `nil` if `completion`
    /// was called already.
    private func emitWithAck(
        _ event: String, _ arguments: [SocketIOValue], _ flags: SocketIOEmitFlags,
        completion: @escaping @Sendable (Result<[SocketIOValue], any Error>) -> Void
    ) -> Int? {
        let id = self.namespace.makeAckID()
        let pending = PendingClientAck(completion: completion, event: event, timeout: flags.timeout ?? self.shared.ackTimeout)
        guard let connection = self.expectAck(id, pending, isVolatile: flags.isVolatile) else { return nil }
        let payload = SocketIOPayload(arguments)
        do throws(SocketIOError) {
            try connection.send(
                .event(name: event, arguments: payload, ackID: id), namespace: self.namespace.name, isCompressed: flags.isCompressed)
            if self.isOutgoingWatched { self.notifyOutgoing(event, payload) }
            return id
        } catch {
            self.extras?.acks?.take(id)?.completion(.failure(error))
            return nil
        }
    }

    /// Sends the event of a broadcast that requests the ack `ackID`.
    func deliver(_ outbound: SocketIOOutbound, isVolatile: Bool, ackID: Int, _ pending: PendingClientAck) {
        guard let connection = self.expectAck(ackID, pending, isVolatile: isVolatile) else { return }
        self.send(outbound, on: connection)
    }

    /// Starts the wait for an ack. Returns the connection for the event; `nil` if the wait failed,
    /// in which case `completion` was called.
    ///
    /// A broadcast uses the same id for every socket, so ids are unique in the namespace, not in
    /// the socket.
    private func expectAck(_ id: Int, _ pending: PendingClientAck, isVolatile: Bool) -> SocketIOConnection? {
        self.eventLoop.assertInEventLoop()
        guard case .open = self.hot.state, let connection = self.hot.connection else {
            pending.completion(.failure(SocketIOError(.disconnected, message: "the client is not connected")))
            return nil
        }
        let acks = self.makePendingAcks()
        guard acks.count < self.shared.maximumPendingAcks else {
            let message = "the socket has reached the maximum of \(acks.count) pending acks (`maximumPendingAcks`)"
            pending.completion(.failure(SocketIOError(.bufferFull, message: message)))
            return nil
        }
        guard !isVolatile || connection.session.isWritable else {
            let message = "the volatile event \"\(pending.event)\" was dropped: the connection cannot send it immediately"
            pending.completion(.failure(SocketIOError(.notConnected, message: message)))
            return nil
        }
        var pending = pending
        if !self.shared.observers.isEmpty { pending.sentAt = self.eventLoop.now }
        acks.add(pending, id: id, endingIn: pending.timeout)
        return connection
    }

    private func makePendingAcks() -> PendingTable<PendingClientAck> {
        let extras = self.makeExtras()
        // The table and the socket retain each other until the socket closes.
        let acks = extras.acks ?? PendingTable(on: self.eventLoop) { _, pending in self.ackTimedOut(pending) }
        extras.acks = acks
        return acks
    }

    /// Ends the wait for an ack without the ack. Has no effect if the wait has ended already.
    func endAck(_ id: Int, _ end: SocketIOAckEnd) {
        self.eventLoop.assertInEventLoop()
        guard let pending = self.extras?.acks?.take(id) else { return }
        self.end(pending, end, .failure(CancellationError()))
    }

    /// Handles a client's ack. Ignores late, repeated and unrequested acks.
    func receivedAck(_ id: Int, _ arguments: SocketIOPayload) {
        guard let pending = self.extras?.acks?.take(id) else { return }
        self.end(pending, .answered, .success(arguments.arguments))
    }

    /// Fails an ack at its deadline. Not called for a broadcast, whose timeout calls
    /// ``endAck(_:_:)``.
    private func ackTimedOut(_ pending: PendingClientAck) {
        let timeout = pending.timeout.map { " within \($0)" } ?? ""
        let message = "the client did not acknowledge \"\(pending.event)\"\(timeout)"
        self.end(pending, .timedOut, .failure(SocketIOError(.ackTimeout, message: message)))
    }

    /// Fails all pending acks with `disconnected`, in the order of their ids. Called when the
    /// socket leaves its namespace.
    func failPendingAcks(_ reason: SocketIOServerDisconnectReason) {
        for pending in self.extras?.acks.take()?.takeAll() ?? [] {
            let message = "the client disconnected (\(reason)) before it acknowledged \"\(pending.event)\""
            self.end(pending, .disconnected, .failure(SocketIOError(.disconnected, message: message)))
        }
    }

    private func end(_ pending: PendingClientAck, _ end: SocketIOAckEnd, _ result: Result<[SocketIOValue], any Error>) {
        if let sentAt = pending.sentAt {
            let time = Duration(self.eventLoop.now - sentAt)
            for observer in self.shared.observers { observer.ackEnded(pending.event, on: self, end, after: time) }
        }
        pending.completion(result)
    }

    // MARK: Acks to the client

    /// Sends an ack to the client, on the event loop.
    func sendAck(_ id: Int, _ arguments: SocketIOPayload) {
        self.eventLoop.assertInEventLoop()
        if case .open = self.hot.state, let connection = self.hot.connection {
            do throws(SocketIOError) {
                try connection.send(.ack(id: id, arguments: arguments), namespace: self.namespace.name)
            } catch {
                self.namespace.reportUnencodable("(ack)", error)
            }
        }
        self.ackSettled()
    }

    /// Records that a requested ack was released without being sent.
    func ackDropped() {
        self.eventLoop.runOnLoop { self.ackSettled() }
    }

    private func ackSettled() {
        self.hot.owedAcks -= 1
        guard self.hot.owedAcks == 0, let extras = self.extras else { return }
        for waiter in exchange(&extras.settleWaiters, with: []) { waiter.succeed() }
    }
}

// Broadcasts to other sockets. The socket itself is excluded.
extension SocketIOServerSocket {
    /// The broadcast to every other socket of the namespace.
    public var broadcast: SocketIOBroadcast {
        SocketIOBroadcast(namespace: self.namespace, targets: SocketIOTargets(except: [self.id]))
    }

    /// Returns a broadcast to the other members of these rooms.
    public func to(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns a broadcast to the other members of these rooms.
    public func to(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns a broadcast to the other members of these rooms; an alias of `to`.
    public func `in`(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns a broadcast to the other members of these rooms; an alias of `to`.
    public func `in`(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.to(rooms) }

    /// Returns a broadcast to every other socket outside these rooms.
    public func except(_ rooms: String...) -> SocketIOBroadcast { self.broadcast.except(rooms) }

    /// Returns a broadcast to every other socket outside these rooms.
    public func except(_ rooms: [String]) -> SocketIOBroadcast { self.broadcast.except(rooms) }

    /// The broadcast to the namespace's other sockets on this server.
    public var local: SocketIOBroadcast { self.broadcast.local }
}

// Declared events, with and without an ack.
extension SocketIOServerSocket {
    /// Sends a declared event to this client.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketIOEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }

    /// Sends a declared event with an ack and waits for the client's ack. Throws the errors of
    /// ``emitWithAck(_:_:timeout:as:)``.
    public func emitWithAck<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketIORequest<repeat each Argument, Answer>, _ arguments: repeat each Argument, timeout: Duration? = nil
    ) async throws -> Answer {
        try await self.emitWithAck(request.name, repeat each arguments, timeout: timeout, as: Answer.self)
    }
}

extension SocketIOServerEmitter {
    /// Sends a declared event to this client.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketIOEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }

    /// Sends a declared event with an ack and waits for the client's ack. Throws the errors of
    /// ``SocketIOServerSocket/emitWithAck(_:_:timeout:as:)``.
    public func emitWithAck<each Argument: Codable & Sendable, Answer: Codable & Sendable>(
        _ request: SocketIORequest<repeat each Argument, Answer>, _ arguments: repeat each Argument
    ) async throws -> Answer {
        try await self.emitWithAck(request.name, repeat each arguments, as: Answer.self)
    }
}

extension SocketIOBroadcasting {
    /// Sends a declared event to every recipient.
    public func emit<each Argument: Codable & Sendable>(_ event: SocketIOEvent<repeat each Argument>, _ arguments: repeat each Argument) {
        self.emit(event.name, repeat each arguments)
    }
}
