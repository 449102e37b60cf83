import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore

/// A namespace of a manager: its listeners, its waiting events and acks.
///
/// Unchecked because: all but the constants and the box is touched on the manager's event loop only.
final class SocketNamespaceCore: @unchecked Sendable {
    /// What is told to other threads.
    struct Status: Sendable {
        var state = SocketClientState.disconnected
        var id: String?
        var isRecovered = false
    }

    let name: String
    let eventLoop: any EventLoop
    let status = NIOLockedValueBox(Status())
    let configuration: SocketManagerConfiguration
    let callbacks: SocketCallbackQueue?
    private let auth: SocketAuthentication
    private(set) weak var manager: SocketManagerCore?

    // Unchecked is what every packet touches, within single statements and never over a call to a listener.
    @exclusivity(unchecked) var machine: SocketIOClientNamespace
    var acks: SocketIOAckTable<AckWaiter>
    /// Of those acks whose events are sent once.
    private(set) lazy var ackTimer = DeadlineTimer(on: self.eventLoop) { [weak self] id in
        self?.acks[id] != nil
    } passed: { [weak self] id in
        self?.ackTimedOut(id)
    }
    var buffer: SocketIOClientBuffer
    /// Nil unless events are repeated until they are acknowledged.
    var retries: SocketIORetryQueue<[EngineIOMessage]>?
    var retryTimer: Scheduled<Void>?
    @exclusivity(unchecked) var handlers = SocketHandlers()
    var stateStreams: [Int: AsyncStream<SocketClientState>.Continuation] = [:]
    private var messageEnds: [Int: () -> Void] = [:]
    private var connectWaiters: [Int: (Result<Void, any Error>) -> Void] = [:]
    private var authTask: Task<Void, Never>?
    private var joinTimer: Scheduled<Void>?
    private var wasLost = false
    /// Why the last attempt failed; told when the time for connecting is over.
    private var lastFailure: SocketIOError?

    init(name: String, auth: SocketAuthentication, manager: SocketManagerCore) {
        let configuration = manager.configuration
        self.name = name
        self.machine = SocketIOClientNamespace(
            name: name, maximumEarlyEvents: configuration.maximumEarlyEvents, maximumEarlyBytes: configuration.maximumEarlyBytes)
        self.auth = auth
        self.manager = manager
        self.eventLoop = manager.eventLoop
        self.configuration = configuration
        self.callbacks = manager.callbacks
        self.acks = SocketIOAckTable(maximumCount: configuration.maximumPendingAcks)
        self.buffer = SocketIOClientBuffer(
            maximumCount: configuration.maximumBufferedEvents, maximumBytes: configuration.maximumBufferedBytes,
            overflow: configuration.bufferOverflow == .dropOldest ? .dropOldest : .refuse)
        guard configuration.retries > 0 else { return }
        self.retries = SocketIORetryQueue(
            maximumTries: 1 + min(configuration.retries, 1 << 30), maximumCount: configuration.maximumBufferedEvents,
            maximumBytes: configuration.maximumBufferedBytes)
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

    private func resumeConnect(_ result: Result<Void, any Error>) {
        let waiters = self.connectWaiters
        self.connectWaiters = [:]
        for waiter in waiters.sorted(by: { $0.key < $1.key }) { waiter.value(result) }
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
            guard let manager = self.manager, case .sendConnect(let auth) = self.machine.authenticated(attempt: attempt, auth) else {
                return
            }
            try manager.join(self, auth: auth)
        } catch {
            self.report(.error(SocketIOError(.connectRefused, message: "the auth for \(self.name) could not be had", cause: error)))
            self.manager?.fail(EngineIOError(.forbidden, message: "the auth for \(self.name) could not be had", cause: error))
        }
    }

    func connected(id: String, early: [SocketIOClientNamespace.Event], isRecovered: Bool) {
        self.joinTimer?.cancel()
        self.manager?.joined()
        // Each step may call a listener that leaves: then the rest is not so any more.
        self.setState(.connected, id: id, isRecovered: isRecovered)
        guard self.machine.id == id else { return }
        // What was emitted before comes before what the listeners emit now.
        self.sendWaiting()
        guard self.machine.id == id else { return }
        self.report(.connect(id: id))
        guard self.machine.id == id else { return }
        if self.wasLost {
            self.wasLost = false
            self.report(.reconnect(attempts: self.manager?.attempts ?? 0))
            guard self.machine.id == id else { return }
        }
        self.resumeConnect(.success(()))
        for event in early where self.machine.isConnected { self.deliver(event) }
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
            let lost = SocketIOError(.disconnected, message: "the connection was lost before the ack came", cause: error)
            self.fail(waiters, lost)
            self.tryWasLost(lost)
            self.report(.disconnect(SocketDisconnectReason(error)))
        case .doNothing:
            self.lastFailure = failure
            self.report(.error(failure))
        }
    }

    /// The session was given up before the namespace was joined, for another one that is being made.
    func sessionReplaced() {
        self.authTask?.cancel()
        self.joinTimer?.cancel()
        _ = self.machine.sessionLost()
    }

    /// There will be no further attempt.
    func gaveUp(_ error: SocketIOError, isFinal: Bool) {
        guard self.machine.isActive else { return }
        _ = self.machine.close()
        if isFinal { self.report(.reconnectFailed) } else { self.report(.error(error)) }
        self.closed(error)
    }

    func left(_ reason: SocketDisconnectReason, wasConnected: Bool) {
        self.closed(SocketIOError(.disconnected, message: "\(self.name) was left: \(reason)"))
        if wasConnected { self.report(.disconnect(reason)) }
        self.manager?.closeIfUnused()
    }

    func refused(_ error: SocketIOError) {
        self.closed(error)
        self.report(.error(error))
        self.manager?.closeIfUnused()
    }

    /// Nothing is being done any more: whoever waits hears of it.
    private func closed(_ error: SocketIOError) {
        self.authTask?.cancel()
        self.joinTimer?.cancel()
        self.wasLost = false
        self.setState(.disconnected)
        self.failAll(error)
        self.resumeConnect(.failure(error))
        self.endStreams(Array(self.messageEnds.keys))
    }

    // MARK: - Streams of messages

    /// A stream of messages that ends when the socket is left for good.
    func addMessageEnd(id: Int, _ end: @escaping () -> Void) {
        self.messageEnds[id] = end
    }

    func endStreams(_ ids: [Int]) {
        for id in ids.sorted() { self.messageEnds.removeValue(forKey: id)?() }
    }

    func removeListener(id: Int) {
        self.handlers.remove(id: id)
        self.messageEnds[id] = nil
    }
}
