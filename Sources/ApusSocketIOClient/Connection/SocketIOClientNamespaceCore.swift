import ApusConnectivity
import ApusEngineIOClient
import ApusEngineIOProtocol
import ApusEventLoop
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore

/// One namespace of a manager: its listeners, buffered events and pending acks.
///
/// Confined to the manager's event loop, except for the status.
final class SocketIOClientNamespaceCore {
    /// The state that other threads can read.
    struct Status: Sendable {
        var state = SocketIOClientState.disconnected
        var id: String?
        var isRecovered = false
    }

    let name: String
    let eventLoop: any EventLoop
    let status: NIOLockedValueBox<Status>
    let configuration: SocketIOManagerConfiguration
    let callbacks: SocketIOClientCallbackQueue?
    private let auth: SocketIOClientAuthentication
    weak var manager: SocketIOManagerCore?
    /// A reference to this object for acks, which any thread may send.
    private(set) lazy var reference = WeakLoopBound(self, on: self.eventLoop)

    /// The state that every packet accesses.
    struct Hot {
        var machine: SocketIOClientNamespace
        var handlers = SocketIOClientListeners()
    }

    /// Exclusivity is unchecked: the state is accessed in single statements, never across a call to
    /// a listener.
    @exclusivity(unchecked) var hot: Hot
    private(set) lazy var acks = PendingTable<PendingServerAck>(on: self.eventLoop) { [weak self] id, pending in
        self?.ackTimedOut(id, pending)
    }
    var nextAckID = 0
    var buffer: SocketIOClientBuffer
    /// The events that await an ack and are retried; `nil` if retries are disabled.
    var retries: SocketIORetryQueue<[EngineIOMessage]>?
    var retryTimer: Scheduled<Void>?
    var stateStreams: [Int: EventStream<SocketIOClientState>.Continuation] = [:]
    private var messageEnds: [Int: () -> Void] = [:]
    private var connectWaiters: [Int: (Result<Void, any Error>) -> Void] = [:]
    private var lastConnectWaiter = 0
    private var authTask: Task<Void, Never>?
    private var joinTimer: Scheduled<Void>?
    private var wasLost = false
    /// The error of the last failed connection attempt. It is the cause of a `connectTimeout`
    /// error.
    private var lastFailure: SocketIOError?

    init(
        name: String, auth: SocketIOClientAuthentication, configuration: SocketIOManagerConfiguration,
        callbacks: SocketIOClientCallbackQueue?,
        status: NIOLockedValueBox<Status>, eventLoop: any EventLoop
    ) {
        self.name = name
        self.hot = Hot(
            machine: SocketIOClientNamespace(
                name: name, maximumEarlyEvents: configuration.maximumEarlyEvents, maximumEarlyBytes: configuration.maximumEarlyBytes))
        self.auth = auth
        self.status = status
        self.eventLoop = eventLoop
        self.configuration = configuration
        self.callbacks = callbacks
        self.buffer = SocketIOClientBuffer(
            maximumCount: configuration.maximumBufferedEvents, maximumBytes: configuration.maximumBufferedBytes,
            overflow: configuration.bufferOverflow == .dropOldest ? .dropOldest : .refuse)
        guard configuration.retries > 0 else { return }
        self.retries = SocketIORetryQueue(
            maximumTries: 1 + min(configuration.retries, 1 << 30), maximumCount: configuration.maximumBufferedEvents,
            maximumBytes: configuration.maximumBufferedBytes)
    }

    var isActive: Bool { self.hot.machine.isActive }

    /// Whether the answer to CONNECT is pending.
    var isConnecting: Bool { self.hot.machine.isConnecting }

    // MARK: - Connecting

    /// Opens the namespace.
    func connect() {
        guard let manager = self.manager, !self.hot.machine.isActive else { return }
        self.lastFailure = nil
        self.setState(.connecting)
        let action = self.hot.machine.open(in: manager.session)
        manager.start()
        self.perform(action)
    }

    /// Opens the namespace, and reports the result once. Returns a number for
    /// ``cancelConnect(waiter:)``.
    @discardableResult
    func connect(timeout: Duration?, completion: @escaping (Result<Void, any Error>) -> Void) -> Int {
        self.lastConnectWaiter += 1
        let waiter = self.lastConnectWaiter
        guard !self.hot.machine.isConnected else {
            completion(.success(()))
            return waiter
        }
        let timer = timeout.map { timeout in
            self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
                guard let self, let completion = self.connectWaiters.removeValue(forKey: waiter) else { return }
                let failure = self.lastFailure
                self.disconnect()
                let detail = failure.map { "; \($0.message)" } ?? ""
                let message = "the namespace \(self.name) was not joined within \(timeout)\(detail)"
                completion(.failure(SocketIOError(.connectTimeout, message: message, cause: failure)))
            }
        }
        self.connectWaiters[waiter] = { result in
            timer?.cancel()
            completion(result)
        }
        self.connect()
        return waiter
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
        self.perform(self.hot.machine.sessionOpened(session))
    }

    private func perform(_ action: SocketIOClientNamespace.OpenAction) {
        guard case .fetchAuth(let attempt) = action else { return }
        self.joinTimer?.cancel()
        let timeout = self.configuration.engine.timeout
        self.joinTimer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) { [weak self] in
            guard let self, self.hot.machine.isPending(attempt: attempt) else { return }
            self.manager?.fail(
                EngineIOError(
                    .timeout, message: "the auth and the answer to the CONNECT for \(self.name) took longer than \(timeout) (`timeout`)"))
        }
        // A server that connects clients to `/` without a request receives no auth there. Its first
        // packets may follow immediately, so do not wait for the auth.
        guard self.manager?.joinsImplicitly(self.name) != true else { return self.authenticated(attempt: attempt, .success(nil)) }
        switch self.auth.source {
        case .none: self.authenticated(attempt: attempt, .success(nil))
        case .value(let value): self.authenticated(attempt: attempt, .success(value))
        case .closure(let closure):
            self.authTask?.cancel()
            let box = NIOLoopBound(self, eventLoop: self.eventLoop)
            self.authTask = Task { [eventLoop = self.eventLoop] in
                let result: Result<SocketIOValue?, any Error>
                do { result = .success(try await closure()) } catch { result = .failure(error) }
                eventLoop.execute { box.value.authenticated(attempt: attempt, result) }
            }
        }
    }

    private func authenticated(attempt: Int, _ auth: Result<SocketIOValue?, any Error>) {
        guard self.hot.machine.isPending(attempt: attempt) else { return }
        do {
            let auth = try auth.get()
            guard let manager = self.manager, case .sendConnect(let auth) = self.hot.machine.authenticated(attempt: attempt, auth) else {
                return
            }
            try manager.join(self, auth: auth)
        } catch {
            self.report(.error(SocketIOError(.connectRefused, message: "no valid auth for \(self.name) is available", cause: error)))
            self.manager?.fail(EngineIOError(.forbidden, message: "no valid auth for \(self.name) is available", cause: error))
        }
    }

    func connected(id: String, early: [SocketIOClientNamespace.Event], isRecovered: Bool) {
        self.joinTimer?.cancel()
        self.manager?.joined()
        // Each step may call a listener that disconnects; the remaining steps are then skipped.
        self.setState(.connected, id: id, isRecovered: isRecovered)
        guard self.hot.machine.id == id else { return }
        // Send the buffered events before the events that the listeners emit.
        self.sendWaiting()
        guard self.hot.machine.id == id else { return }
        self.report(.connect(id: id))
        guard self.hot.machine.id == id else { return }
        if self.wasLost {
            self.wasLost = false
            self.report(.reconnect(attempts: self.manager?.attempts ?? 0))
            guard self.hot.machine.id == id else { return }
        }
        self.resumeConnect(.success(()))
        for event in early where self.hot.machine.isConnected { self.deliver(event) }
    }

    // MARK: - Leaving

    /// Leaves the namespace at the request of the application.
    func disconnect() {
        switch self.hot.machine.close() {
        case .sendDisconnect(let wasConnected):
            self.manager?.leave(self)
            self.left(.clientDisconnect, wasConnected: wasConnected)
        case .justClose: self.left(.clientDisconnect, wasConnected: false)
        case .doNothing: return
        }
    }

    /// Handles the loss of the connection. The namespace remains open.
    func sessionLost(_ error: EngineIOError, failure: SocketIOError) {
        self.authTask?.cancel()
        self.joinTimer?.cancel()
        guard self.hot.machine.isActive else { return }
        switch self.hot.machine.sessionLost() {
        case .wasConnected:
            self.wasLost = true
            let acks = self.acks.takeAll { $0.wasSent }
            self.setState(.reconnecting)
            let lost = SocketIOError(.disconnected, message: "the connection was lost before the ack arrived", cause: error)
            self.fail(acks, lost)
            self.tryWasLost(lost)
            self.report(.disconnect(SocketIOClientDisconnectReason(error)))
        case .doNothing:
            self.lastFailure = failure
            self.report(.error(failure))
        }
    }

    /// Handles the replacement of a session that the namespace has not joined.
    func sessionReplaced() {
        self.authTask?.cancel()
        self.joinTimer?.cancel()
        _ = self.hot.machine.sessionLost()
    }

    /// Closes the namespace because the manager stopped connecting.
    func gaveUp(_ error: SocketIOError, isFinal: Bool) {
        guard self.hot.machine.isActive else { return }
        _ = self.hot.machine.close()
        if isFinal { self.report(.reconnectFailed) } else { self.report(.error(error)) }
        self.closed(error)
    }

    func left(_ reason: SocketIOClientDisconnectReason, wasConnected: Bool) {
        let error = SocketIOError(.disconnected, message: "the namespace \(self.name) was disconnected: \(reason)")
        self.closed(error)
        if wasConnected { self.report(.disconnect(reason)) }
        self.manager?.closeIfUnused(after: reason == .clientDisconnect ? nil : error)
    }

    func refused(_ error: SocketIOError) {
        self.closed(error)
        self.report(.error(error))
        self.manager?.closeIfUnused(after: error)
    }

    /// Resets the state of a closed namespace, and fails all pending calls of `connect` and all
    /// pending acks.
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

    /// Adds a message stream that ends when the namespace is closed.
    func addMessageEnd(id: Int, _ end: @escaping () -> Void) {
        self.messageEnds[id] = end
    }

    func endStreams(_ ids: [Int]) {
        for id in ids.sorted() { self.messageEnds.removeValue(forKey: id)?() }
    }

    func removeListener(id: Int) {
        self.hot.handlers.remove(id: id)
        self.messageEnds[id] = nil
    }
}

@available(*, unavailable)
extension SocketIOClientNamespaceCore: Sendable {}
