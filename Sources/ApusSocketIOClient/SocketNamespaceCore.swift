import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore

/// A namespace of a manager: its listeners, its waiting events and acks.
///
/// Unchecked because: all but the constants and the box is touched on the manager's event loop only.
final class SocketNamespaceCore: @unchecked Sendable {
    typealias AckCompletion = (Result<[SocketIOValue], any Error>) -> Void

    /// Who waits for an ack, and the timer that ends the wait.
    struct AckWaiter {
        var completion: AckCompletion
        var timer: Scheduled<Void>
    }

    let name: String
    let eventLoop: any EventLoop
    let status = NIOLockedValueBox<(state: SocketClientState, id: String?)>((.disconnected, nil))
    private let auth: SocketAuthentication
    private let configuration: SocketManagerConfiguration
    private weak var manager: SocketManagerCore?

    private var machine: SocketIOClientNamespace
    private var acks: SocketIOAckTable<AckWaiter>
    private var buffer: SocketIOClientBuffer
    var handlers = SocketHandlers()
    private var connectWaiters: [Int: (Result<Void, any Error>) -> Void] = [:]
    private var stateStreams: [Int: AsyncStream<SocketClientState>.Continuation] = [:]
    private var messageEnds: [Int: () -> Void] = [:]
    private var authTask: Task<Void, Never>?
    private var joinTimer: Scheduled<Void>?
    private var wasLost = false
    /// Why the last attempt failed; told when the time for connecting is over.
    private var lastFailure: SocketIOError?

    init(name: String, auth: SocketAuthentication, manager: SocketManagerCore) {
        self.name = name
        self.machine = SocketIOClientNamespace(name: name)
        self.auth = auth
        self.manager = manager
        self.eventLoop = manager.eventLoop
        self.configuration = manager.configuration
        self.acks = SocketIOAckTable(maximumCount: manager.configuration.maximumPendingAcks)
        self.buffer = SocketIOClientBuffer(
            maximumCount: manager.configuration.maximumBufferedEvents, maximumBytes: manager.configuration.maximumBufferedBytes)
    }

    /// Runs `body` on the event loop: at once when there already.
    func onLoop(_ body: @escaping @Sendable (SocketNamespaceCore) -> Void) {
        if self.eventLoop.inEventLoop { body(self) } else { self.eventLoop.execute { body(self) } }
    }

    var isActive: Bool { self.machine.isActive }

    /// Whether an answer to CONNECT is waited for.
    var isConnecting: Bool { self.machine.isConnecting }

    // MARK: - Connecting

    /// Wants the namespace, from now on.
    func connect() {
        guard let manager = self.manager, !self.machine.isActive else { return }
        self.lastFailure = nil
        self.setState(.connecting)
        let action = self.machine.open(in: manager.session)
        manager.start()
        self.perform(action)
    }

    /// As ``connect()``, and tells how it went.
    func connect(waiter: Int, timeout: Duration, completion: @escaping (Result<Void, any Error>) -> Void) {
        if self.machine.isConnected { return completion(.success(())) }
        let timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
            guard let self, let completion = self.connectWaiters.removeValue(forKey: waiter) else { return }
            let failure = self.lastFailure
            self.disconnect()
            let why = failure.map { "; \($0.message)" } ?? ""
            completion(
                .failure(SocketIOError(.connectTimeout, message: "\(self.name) was not joined within \(timeout)\(why)", cause: failure)))
        }
        self.connectWaiters[waiter] = { result in
            timer.cancel()
            completion(result)
        }
        self.connect()
    }

    func cancelConnect(waiter: Int) {
        guard let completion = self.connectWaiters.removeValue(forKey: waiter) else { return }
        self.disconnect()
        completion(.failure(CancellationError()))
    }

    func sessionOpened(_ session: SocketIOClientSession) {
        self.perform(self.machine.sessionOpened(session))
    }

    private func perform(_ action: SocketIOClientNamespace.OpenAction) {
        guard case .fetchAuth(let attempt) = action else { return }
        self.joinTimer?.cancel()
        let timeout = self.configuration.engine.timeout
        self.joinTimer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
            guard let self, self.machine.isPending(attempt: attempt) else { return }
            self.manager?.fail(EngineIOError(.timeout, message: "no answer to CONNECT for \(self.name) within \(timeout)"))
        }
        // A server that lets everybody into `/` unasked hears no auth there, and what it says at once must find us ready.
        guard self.manager?.entersUnasked(self.name) != true else { return self.authenticated(attempt: attempt, .success(nil)) }
        switch self.auth.source {
        case .none: self.authenticated(attempt: attempt, .success(nil))
        case .value(let value): self.authenticated(attempt: attempt, .success(value))
        case .closure(let closure):
            self.authTask?.cancel()
            self.authTask = Task {
                let result: Result<SocketIOValue?, any Error>
                do { result = .success(try await closure()) } catch { result = .failure(error) }
                self.eventLoop.execute { self.authenticated(attempt: attempt, result) }
            }
        }
    }

    private func authenticated(attempt: Int, _ auth: Result<SocketIOValue?, any Error>) {
        guard self.machine.isPending(attempt: attempt) else { return }
        do {
            let auth = try auth.get()
            guard let manager = self.manager, case .sendConnect = self.machine.authenticated(attempt: attempt) else { return }
            try manager.join(self, auth: auth)
        } catch {
            self.report(.error(SocketIOError(.connectRefused, message: "the auth for \(self.name) could not be had", cause: error)))
            self.manager?.fail(EngineIOError(.forbidden, message: "the auth for \(self.name) could not be had", cause: error))
        }
    }

    // MARK: - Leaving

    /// The user leaves: no coming back by itself.
    func disconnect() {
        switch self.machine.close() {
        case .sendDisconnect(let wasConnected):
            self.manager?.leave(self)
            self.left(.clientDisconnect, wasConnected: wasConnected)
        case .justClose: self.left(.clientDisconnect, wasConnected: false)
        case .doNothing: return
        }
    }

    /// The connection is gone; the namespace stays wanted.
    func sessionLost(_ error: EngineIOError, failure: SocketIOError) {
        self.authTask?.cancel()
        self.joinTimer?.cancel()
        guard self.machine.isActive else { return }
        switch self.machine.sessionLost() {
        case .wasConnected:
            self.wasLost = true
            let waiters = self.acks.takeSent()
            self.setState(.reconnecting)
            self.fail(waiters, SocketIOError(.disconnected, message: "the connection was lost before the ack came", cause: error))
            self.report(.disconnect(SocketDisconnectReason(error)))
        case .doNothing:
            self.lastFailure = failure
            self.report(.error(failure))
        }
    }

    /// There will be no further attempt.
    func gaveUp(_ error: SocketIOError, isFinal: Bool) {
        guard self.machine.isActive else { return }
        _ = self.machine.close()
        if isFinal { self.report(.reconnectFailed) } else { self.report(.error(error)) }
        self.closed(error)
    }

    private func left(_ reason: SocketDisconnectReason, wasConnected: Bool) {
        self.closed(SocketIOError(.disconnected, message: "\(self.name) was left: \(reason)"))
        if wasConnected { self.report(.disconnect(reason)) }
        self.manager?.closeIfUnused()
    }

    /// Nothing is being done any more: whoever waits hears of it.
    private func closed(_ error: SocketIOError) {
        self.authTask?.cancel()
        self.joinTimer?.cancel()
        self.wasLost = false
        self.setState(.disconnected)
        let waiters = self.acks.takeAll()
        // Events without an ack stay, for the next connect; those whose caller is told that they failed must not be sent.
        let kept = self.buffer.takeAll().filter { $0.ackID == nil }
        for item in kept { _ = self.buffer.append(item) }
        self.fail(waiters, error)
        self.resumeConnect(.failure(error))
        let ends = self.messageEnds
        self.messageEnds = [:]
        for end in ends.sorted(by: { $0.key < $1.key }) { end.value() }
    }

    // MARK: - Packets in

    func received(_ content: SocketIOPacket.Content) {
        switch self.machine.received(content) {
        case .connected(let id, let early): self.connected(id: id, early: early)
        case .refused(let error):
            self.closed(error)
            self.report(.error(error))
            self.manager?.closeIfUnused()
        case .deliver(let event): self.deliver(event)
        case .resolveAck(let id, let arguments):
            guard let waiter = self.acks.take(id) else { return }  // late, doubled or never asked for
            waiter.timer.cancel()
            waiter.completion(.success(arguments))
        case .disconnected: self.left(.serverDisconnect, wasConnected: true)
        case .fail(let error): self.manager?.fail(EngineIOError(.malformedPacket, message: error.message, cause: error))
        case .doNothing: break
        }
    }

    private func connected(id: String, early: [SocketIOClientNamespace.Event]) {
        self.joinTimer?.cancel()
        self.manager?.joined()
        self.setState(.connected, id: id)
        // What was emitted before comes before what the listeners emit now.
        for item in self.buffer.takeAll() {
            if let ackID = item.ackID { self.acks.markSent(ackID) }
            if self.manager?.send(item.packet) != true { self.sendFailed(ackID: item.ackID) }
        }
        self.report(.connect(id: id))
        if self.wasLost {
            self.wasLost = false
            self.report(.reconnect(attempts: self.manager?.attempts ?? 0))
        }
        self.resumeConnect(.success(()))
        for event in early where self.machine.isConnected { self.deliver(event) }
    }

    private func deliver(_ event: SocketIOClientNamespace.Event) {
        for handler in self.handlers.forAny { handler(event.name, event.arguments) }
        let handlers = self.handlers.take(for: event.name)
        guard !handlers.isEmpty else { return }
        let ack: SocketAck
        if let ackID = event.ackID, let session = self.machine.id {
            ack = SocketAck { [weak self] arguments in self?.onLoop { $0.acknowledge(ackID, arguments, session: session) } }
        } else {
            ack = SocketAck(nil)
        }
        for handler in handlers { handler(event.arguments, ack) }
    }

    private func acknowledge(_ id: Int, _ arguments: [SocketIOValue], session: String) {
        guard self.machine.id == session else { return }
        self.encode(.ack(id: id, arguments: arguments)) { packet in
            if self.manager?.send(packet) != true { self.sendFailed(ackID: nil) }
        }
    }

    // MARK: - Packets out

    func emit(_ event: String, _ arguments: [SocketIOValue], isVolatile: Bool) {
        if isVolatile, !self.machine.isConnected || self.manager?.isWritable != true { return }
        self.encode(.event(name: event, arguments: arguments, ackID: nil)) { self.dispatch($0, ackID: nil) }
    }

    /// Emits and waits. The completion runs exactly once. Answers the ack's id, for ``cancelAck(_:)``; nil when it is over already.
    func emit(_ event: String, _ arguments: [SocketIOValue], timeout: Duration?, completion: @escaping AckCompletion) -> Int? {
        let timeout = timeout ?? self.configuration.ackTimeout
        let box = AckIDBox()
        let timer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
            guard let id = box.id else { return }
            self?.endAck(id, SocketIOError(.ackTimeout, message: "no ack for \"\(event)\" within \(timeout)"))
        }
        guard let id = self.acks.add(AckWaiter(completion: completion, timer: timer), wasSent: self.machine.isConnected) else {
            timer.cancel()
            completion(.failure(SocketIOError(.bufferFull, message: "\(self.acks.count) acks are waited for, the bound")))
            return nil
        }
        box.id = id
        do throws(SocketIOError) {
            let packet = SocketIOPacket(namespace: self.name, content: .event(name: event, arguments: arguments, ackID: id))
            self.dispatch(try self.configuration.parser.encode(packet), ackID: id)
        } catch {
            self.endAck(id, error)
        }
        return id
    }

    /// Ends the wait for an ack; its event, if it waits still, is not sent.
    func endAck(_ id: Int, _ error: any Error) {
        self.buffer.remove(ackID: id)
        guard let waiter = self.acks.take(id) else { return }
        waiter.timer.cancel()
        waiter.completion(.failure(error))
    }

    private func dispatch(_ packet: [EngineIOMessage], ackID: Int?) {
        let isTaken =
            self.machine.isConnected
            ? self.manager?.send(packet) ?? false : self.buffer.append(SocketIOClientBuffer.Item(packet: packet, ackID: ackID))
        if !isTaken { self.sendFailed(ackID: ackID) }
    }

    private func sendFailed(ackID: Int?) {
        let error = SocketIOError(.bufferFull, message: "the queue of events for \(self.name) is full: the event was not sent")
        if let ackID { self.endAck(ackID, error) } else { self.report(.error(error)) }
    }

    private func encode(_ content: SocketIOPacket.Content, then body: ([EngineIOMessage]) -> Void) {
        do throws(SocketIOError) {
            body(try self.configuration.parser.encode(SocketIOPacket(namespace: self.name, content: content)))
        } catch {
            self.report(.error(error))
        }
    }

    private func fail(_ waiters: [AckWaiter], _ error: SocketIOError) {
        for waiter in waiters {
            waiter.timer.cancel()
            waiter.completion(.failure(error))
        }
    }

    // MARK: - Telling

    func report(_ event: SocketLifecycleEvent) {
        for handler in self.handlers.forLifecycle { handler(event) }
    }

    private func setState(_ state: SocketClientState, id: String? = nil) {
        let changed = self.status.withLockedValue { status in
            defer { status = (state, id) }
            return status.state != state
        }
        guard changed else { return }
        for continuation in self.stateStreams.values { continuation.yield(state) }
    }

    func addStateStream(_ continuation: AsyncStream<SocketClientState>.Continuation, id: Int) {
        self.stateStreams[id] = continuation
        continuation.yield(self.status.withLockedValue { $0.state })
    }

    func removeStateStream(id: Int) {
        self.stateStreams[id] = nil
    }

    /// A stream of messages that ends when the socket is left for good.
    func addMessageEnd(id: Int, _ end: @escaping () -> Void) {
        self.messageEnds[id] = end
    }

    func removeListener(id: Int) {
        self.handlers.remove(id: id)
        self.messageEnds[id] = nil
    }

    private func resumeConnect(_ result: Result<Void, any Error>) {
        let waiters = self.connectWaiters
        self.connectWaiters = [:]
        for waiter in waiters.sorted(by: { $0.key < $1.key }) { waiter.value(result) }
    }
}

/// Carries an id to the timer that was made before it. On the event loop only.
private final class AckIDBox {
    var id: Int?
}
