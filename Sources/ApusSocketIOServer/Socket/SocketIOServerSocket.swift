import ApusEngineIOProtocol
import ApusEngineIOServer
public import ApusJSON
public import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore

/// Somebody who waits for a client's ack.
struct WaitingAck {
    let resume: @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void
    /// `nil` when whoever waits keeps the time itself, as a broadcast does.
    let timer: Scheduled<Void>?
}

/// One client in one namespace. Every method may be called from any thread; handlers run on the socket's event loop.
///
/// `@unchecked Sendable`: the mutable properties are touched on `eventLoop` only, `values` has its own lock.
public final class SocketIOServerSocket: @unchecked Sendable {
    /// The socket's id: 20 characters that cannot be guessed (with a Socket.IO 2.x client the namespace before them). Also the name of the
    /// socket's own room.
    public let id: String
    /// The namespace the socket is in.
    public let namespace: SocketIONamespace
    /// What the client said when it connected.
    public let handshake: SocketIOHandshake

    let eventLoop: any EventLoop
    let maximumWaitingEvents: Int
    private weak var connection: SocketIOConnection?
    private let values = NIOLockedValueBox<[String: any Sendable]>([:])

    private var handlers: [String: [SocketIOHandler]] = [:]
    private var anyHandlers: [SocketIOHandler] = []
    private var disconnectHandlers: [@Sendable (SocketIODisconnectReason) -> Void] = []
    private var waitingAcks: [Int: WaitingAck] = [:]
    private var asyncQueue: SocketIOHandlerQueue?
    private var disconnectReason: SocketIODisconnectReason?

    init(
        id: String, namespace: SocketIONamespace, handshake: SocketIOHandshake, connection: SocketIOConnection, eventLoop: any EventLoop,
        maximumWaitingEvents: Int
    ) {
        self.id = id
        self.namespace = namespace
        self.handshake = handshake
        self.connection = connection
        self.eventLoop = eventLoop
        self.maximumWaitingEvents = maximumWaitingEvents
    }

    // MARK: The application's own values

    /// Keeps a value with the socket, for example the user that middleware found.
    public func setValue(_ value: some Sendable, for key: String) {
        self.values.withLockedValue { $0[key] = value }
    }

    /// The value kept under this key, if it is of this type.
    public func value<Value>(for key: String, as type: Value.Type = Value.self) -> Value? {
        self.values.withLockedValue { $0[key] } as? Value
    }

    // MARK: Rooms

    /// The rooms the socket is in, its own included.
    public var rooms: Set<String> { self.namespace.rooms(of: self) }

    /// Enters rooms. It leaves them all when it disconnects.
    public func join(_ rooms: String...) { self.namespace.join(self, rooms) }

    /// Leaves a room.
    public func leave(_ room: String) { self.namespace.leave(self, room) }

    // MARK: Emit

    /// Sends an event to this client. After a disconnect it does nothing. What cannot be encoded is logged and not sent.
    public func emit(_ event: String, arguments: [SocketIOValue]) {
        do {
            let content = SocketIOPacket.Content.event(name: event, arguments: arguments, ackID: nil)
            let outbound = try SocketIOOutbound(SocketIOPacket(namespace: self.namespace.name, content: content))
            self.eventLoop.runOnLoop { self.deliver(outbound, isVolatile: false) }
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event with these arguments, each encoded as its `Encodable` says; `Data` travels as binary.
    public func emit<each Argument: Encodable & Sendable>(_ event: String, _ arguments: repeat each Argument) {
        do {
            self.emit(event, arguments: try SocketIOArguments.encode(repeat each arguments))
        } catch {
            self.namespace.reportUnencodable(event, error)
        }
    }

    /// Sends an event and waits for the client's ack.
    ///
    /// - Returns: The ack's arguments.
    /// - Throws: `SocketIOError` with `ackTimeout`, `disconnected` (at once when the client leaves) or `invalidArguments`.
    ///   Cancelling the task does not shorten the wait; the timeout bounds it.
    public func emitWithAck(_ event: String, arguments: [SocketIOValue], timeout: Duration) async throws(SocketIOError) -> [SocketIOValue] {
        let result: Result<[SocketIOValue], SocketIOError> = await withCheckedContinuation { continuation in
            self.eventLoop.runOnLoop {
                self.emit(event, arguments: arguments, timeout: timeout) { continuation.resume(returning: $0) }
            }
        }
        return try result.get()
    }

    /// Sends an event, waits for the client's ack and decodes its first argument.
    public func emitWithAck<Answer: Decodable, each Argument: Encodable & Sendable>(
        _ event: String, _ arguments: repeat each Argument, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer {
        let values = try await self.emitWithAck(event, arguments: try SocketIOArguments.encode(repeat each arguments), timeout: timeout)
        return try SocketIOArguments.decode(values, as: type)
    }

    private func emit(
        _ event: String, arguments: [SocketIOValue], timeout: Duration,
        resume: @escaping @Sendable (Result<[SocketIOValue], SocketIOError>) -> Void
    ) {
        guard self.disconnectReason == nil, let connection = self.connection else {
            return resume(.failure(SocketIOError(.disconnected, message: "The client is not connected")))
        }
        let id = self.namespace.makeAckID()
        do throws(SocketIOError) {
            let content = SocketIOPacket.Content.event(name: event, arguments: arguments, ackID: id)
            let outbound = try SocketIOOutbound(SocketIOPacket(namespace: self.namespace.name, content: content))
            let timer = self.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [weak self] in
                guard let self else { return }
                self.endWait(id, .failure(SocketIOError(.ackTimeout, message: "No ack for \(event) within \(timeout)")))
            }
            self.waitingAcks[id] = WaitingAck(resume: resume, timer: timer)
            connection.send(outbound)
        } catch {
            resume(.failure(error))
        }
    }

    func sendAck(_ id: Int, _ values: [SocketIOValue]) {
        do {
            let outbound = try SocketIOOutbound(SocketIOPacket(namespace: self.namespace.name, content: .ack(id: id, arguments: values)))
            self.eventLoop.runOnLoop { self.deliver(outbound, isVolatile: false) }
        } catch {
            self.namespace.reportUnencodable("(ack)", error)
        }
    }

    func deliver(_ outbound: SocketIOOutbound, isVolatile: Bool) {
        guard self.disconnectReason == nil, let connection = self.connection else { return }
        if isVolatile, !connection.session.isWritable { return }
        connection.send(outbound)
    }

    /// Sends an event that asks for the ack `ackID`. `false`: the wait is over already, and `resume` was called.
    ///
    /// A broadcast gives every socket the same id, so ids are the namespace's, not the socket's.
    func deliver(_ outbound: SocketIOOutbound, isVolatile: Bool, ackID: Int, _ waiting: WaitingAck) -> Bool {
        guard self.disconnectReason == nil else {
            waiting.resume(.failure(SocketIOError(.disconnected, message: "The client is not connected")))
            return false
        }
        self.waitingAcks[ackID] = waiting
        self.deliver(outbound, isVolatile: isVolatile)
        return true
    }

    /// Ends a wait before its ack came; nothing when it is over.
    func endWait(_ id: Int, _ result: Result<[SocketIOValue], SocketIOError>) {
        guard let waiting = self.waitingAcks.removeValue(forKey: id) else { return }
        waiting.timer?.cancel()
        waiting.resume(result)
    }

    // MARK: Handlers

    func addHandler(_ handler: SocketIOHandler, for event: String?) {
        self.eventLoop.runOnLoop {
            if let event { self.handlers[event, default: []].append(handler) } else { self.anyHandlers.append(handler) }
        }
    }

    /// Calls `handler` once when the socket leaves its namespace, at once if it is gone already.
    public func onDisconnect(_ handler: @escaping @Sendable (SocketIODisconnectReason) -> Void) {
        self.eventLoop.runOnLoop {
            if let reason = self.disconnectReason { handler(reason) } else { self.disconnectHandlers.append(handler) }
        }
    }

    func received(_ name: String, _ arguments: [SocketIOValue], ackID: Int?) {
        let event = SocketIOEvent(name: name, arguments: arguments, ack: ackID.map { SocketIOAck(socket: self, id: $0) })
        for handler in self.anyHandlers { self.run(handler, event) }
        for handler in self.handlers[name] ?? [] { self.run(handler, event) }
    }

    private func run(_ handler: SocketIOHandler, _ event: SocketIOEvent) {
        switch handler {
        case .synchronous(let body): body(event)
        case .asynchronous(let body):
            let queue = self.asyncQueue ?? SocketIOHandlerQueue(maximumWaiting: self.maximumWaitingEvents)
            self.asyncQueue = queue
            // Handlers that fall behind by this much will not catch up. Not told to stay away: the client may come back.
            if !queue.enqueue({ await body(event) }) { self.connection?.session.close(.forcedClose) }
        }
    }

    func receivedAck(_ id: Int, _ arguments: [SocketIOValue]) {
        self.endWait(id, .success(arguments))  // late, or never asked for: finds nobody
    }

    // MARK: Life

    /// Takes the client out of this namespace; with `close`, ends its whole connection.
    public func disconnect(close: Bool = false) {
        self.eventLoop.runOnLoop { self.connection?.disconnect(self, close: close) }
    }

    func opened() { self.namespace.add(self) }

    func closed(_ reason: SocketIODisconnectReason) {
        self.eventLoop.assertInEventLoop()
        guard self.disconnectReason == nil else { return }
        self.disconnectReason = reason
        self.namespace.remove(self)
        self.asyncQueue?.finish()
        let waiting = self.waitingAcks
        self.waitingAcks = [:]
        for ack in waiting.values {
            ack.timer?.cancel()
            ack.resume(.failure(SocketIOError(.disconnected, message: "The client left before it answered: \(reason)")))
        }
        let handlers = self.disconnectHandlers
        // Handlers often capture their socket: letting go of them ends the cycle.
        self.disconnectHandlers = []
        self.handlers = [:]
        self.anyHandlers = []
        for handler in handlers { handler(reason) }
    }
}
