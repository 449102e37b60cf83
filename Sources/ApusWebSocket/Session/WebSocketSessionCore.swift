import ApusConnectivity
import ApusEventLoop
import ApusWebSocketProtocol
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The state of a session that is accessible from any thread.
struct WebSocketSessionSnapshot: Sendable {
    var state = WebSocketSession.State.idle
    /// The connection; `nil` unless the session is open.
    var connection: WebSocketConnection?
    var attempt = 0
    var latency: Duration?
    var lastClosure: WebSocketClosure?
    var lastError: WebSocketError?
    var droppedMessages = 0
}

/// Performs the actions of ``WebSocketSessionStateMachine``, and owns the attempt, the connection,
/// the hook and the reconnector.
///
/// Confined to its event loop, except for the snapshot.
final class WebSocketSessionCore {
    let eventLoop: any EventLoop
    let configuration: WebSocketSessionConfiguration
    let snapshot: NIOLockedValueBox<WebSocketSessionSnapshot>
    private let url: String
    private let logger: Logger

    private var machine: WebSocketSessionStateMachine
    private let reconnector: Reconnector
    private var opener: WebSocketOpener?
    private var connection: WebSocketConnection?
    private var hook: WebSocketOpenHook?
    /// The cause of the last failure. It is also the cause of errors of waiting callers.
    private var lastFailure: WebSocketError?
    let subscribers: SessionSubscribers
    let waiters = WebSocketSessionWaiters()

    init(
        url: String, configuration: WebSocketSessionConfiguration, logger: Logger, snapshot: NIOLockedValueBox<WebSocketSessionSnapshot>,
        eventLoop: any EventLoop
    ) {
        self.url = url
        self.configuration = configuration
        self.logger = logger
        self.snapshot = snapshot
        self.eventLoop = eventLoop
        self.machine = WebSocketSessionStateMachine(queue: configuration.queue)
        self.subscribers = SessionSubscribers(flow: configuration.client.flow)
        self.reconnector = Reconnector(
            policy: configuration.reconnection, network: configuration.network(for: (try? WebSocketURL(url))?.host), on: eventLoop)
        self.reconnector.onAttempt = { [weak self] _ in self?.attempt() }
        self.reconnector.onRouteChange = { [weak self] in self?.routeChanged() }
    }

    var state: WebSocketSession.State { self.machine.state }

    /// The error that ended the session; `nil` unless it failed.
    var failure: WebSocketError? { self.machine.state == .failed ? self.lastFailure : nil }

    /// Publishes the state machine's state, and notifies the observers of a change.
    private func publish() {
        let state = self.machine.state
        let connection = state == .open ? self.connection : nil
        let changed = self.snapshot.withLockedValue { snapshot in
            defer {
                snapshot.state = state
                snapshot.connection = connection
                snapshot.attempt = self.reconnector.attempt
                snapshot.droppedMessages = self.machine.droppedMessages
            }
            return snapshot.state != state
        }
        guard changed else { return }
        self.logger.debug(
            "WebSocket session", metadata: ["websocket.state": "\(state)", "websocket.attempt": "\(self.reconnector.attempt)"])
        self.waiters.stateChanged(state)
    }

    // MARK: The user

    func connect(again: Bool) {
        if case .start = self.machine.connectRequested(again: again) { self.start() }
    }

    private func start() {
        if case .connect = self.reconnector.start() { self.attempt() } else { self.publish() }
    }

    /// Waits for an open connection, and requests a connection if necessary.
    func connect(_ operation: LoopOperation<Void>, timeout: Duration) {
        self.connect(again: true)
        switch self.state {
        case .open:
            operation.succeed()
        case .closing, .closedByPeer, .closedByUser, .failed:
            operation.fail(self.failure ?? WebSocketError(.closed, message: self.state.reason))
        case .idle, .connecting, .waitingToReconnect:
            self.waiters.waitForOpen(operation)
            let snapshot = self.snapshot
            operation.expire(in: timeout) {
                let last = snapshot.withLockedValue { $0.lastError }
                return WebSocketError(.timeout, message: "the session was not open within \(timeout)", cause: last)
            }
        }
    }

    func close(code: WebSocketCloseCode, reason: String) {
        switch self.machine.closeRequested() {
        case .cancel:
            self.cancelAll()
            self.finished()
        case .closeConnection:
            self.reconnector.stop()
            self.hook?.cancel()
            self.hook = nil
            self.publish()
            self.connection?.startClosing(code: code, reason: reason)
        case .doNothing:
            break
        }
    }

    private func cancelAll() {
        self.reconnector.stop()
        let opener = self.opener
        self.opener = nil  // first, so that its failure is not reported
        opener?.cancel()
    }

    /// Sends the message, or queues it according to the configuration.
    func send(_ message: WebSocketMessage) -> Result<Void, WebSocketError> {
        switch self.machine.send(message) {
        case .send:
            guard let connection = self.connection, connection.post(message) else {
                return .failure(
                    WebSocketError(
                        .queueFull, message: "the message was not sent: the connection is closing, or `flow.postedBytes` is exceeded"))
            }
            return .success(())
        case .queued:
            self.publish()
            return .success(())
        case .queuedAndStart:
            self.start()
            return .success(())
        case .refuse(let error):
            return .failure(error)
        }
    }

    // MARK: An attempt

    private func attempt() {
        guard self.machine.attemptStarted() else { return }
        self.publish()
        let opener = WebSocketOpener(url: self.url, configuration: self.configuration.client, eventLoop: self.eventLoop)
        self.opener = opener
        opener.futureResult.assumeIsolated().whenComplete { result in
            guard self.opener === opener else {
                if case .success(let connection) = result { connection.abort() }
                return
            }
            self.opener = nil
            switch result {
            case .success(let connection):
                self.opened(connection)
            case .failure(let error):
                self.attemptFailed(
                    error as? WebSocketError ?? WebSocketError(.transport, message: "the connection attempt failed", cause: error))
            }
        }
    }

    private func opened(_ connection: WebSocketConnection) {
        switch self.machine.opened() {
        case .abort:
            connection.abort()
        case .runHook:
            self.connection = connection
            connection.addCloseHandler { [self, unowned connection] closure in self.ended(connection, closure) }
            connection.startHeartbeat(self.configuration.heartbeat)
            guard let onOpen = self.configuration.onOpen else { return self.hookFinished() }
            self.hook = WebSocketOpenHook(onOpen, connection: connection, timeout: self.configuration.onOpenTimeout) { [weak self] result in
                guard let self, self.connection === connection else { return }
                self.hook = nil
                switch result {
                case .success: self.hookFinished()
                case .failure(let error): self.hookFailed(error)
                }
            }
        }
    }

    private func hookFinished() {
        // A closing connection accepts no messages. They remain queued for the next connection.
        guard let connection = self.connection, let handler = connection.handler, handler.isOpen,
            case .flush(let messages) = self.machine.hookFinished()
        else { return }
        self.reconnector.opened()
        // Use `send`, because the limit of `post` may be below the limit of the queue.
        for message in messages { handler.send(message) }
        if !messages.isEmpty { handler.flushNow() }  // so that they do not count towards the limit of `post`
        self.publish()
        self.notify(.opened(subprotocol: connection.subprotocol))
        guard connection === self.connection else { return }  // a listener has closed the session
        connection.setPongHandler { [self] _, payload, roundTrip in self.receivedPong(payload, roundTrip) }
        connection.setMessageHandler { [self] _, message in self.receivedMessage(message) }
        self.subscribersChanged()
    }

    private func hookFailed(_ error: WebSocketError) {
        let connection = self.connection
        self.connection = nil  // first, so that its end is not reported
        connection?.startClosing(code: .goingAway)
        self.attemptFailed(error)
    }

    // MARK: Ends

    private func attemptFailed(_ error: WebSocketError) {
        self.lost(.attempt(error), error: error) { .failure(error, willRetry: $0) }
    }

    private func ended(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {
        guard connection === self.connection else { return }
        let wasOpening = self.machine.state == .connecting
        self.connection = nil
        self.hook?.cancel()
        self.hook = nil
        self.snapshot.withLockedValue { $0.lastClosure = closure }
        let error = closure.error ?? WebSocketError(.connectionLost, message: "the connection was \(closure)")
        self.lost(.connection(closure), error: error) {
            wasOpening ? .failure(error, willRetry: $0) : .closed(closure, willRetry: $0)
        }
    }

    private func lost(_ loss: WebSocketSession.Loss, error: WebSocketError, event: (_ willRetry: Bool) -> WebSocketSession.Event) {
        self.lastFailure = error
        self.snapshot.withLockedValue { $0.lastError = error }
        var byPeer = false
        if case .connection(let closure) = loss { byPeer = closure.initiator == .peer }
        switch self.machine.lost(byPeer: byPeer, willRetry: self.willRetry(after: loss)) {
        case .wait:
            self.publish()
            self.notify(event(true))
        case .finish:
            self.publish()
            self.notify(event(false))
            self.finished()
        case .doNothing:
            break
        }
    }

    /// Returns whether the reconnector makes another attempt. Returns `false` if the application
    /// closes the session.
    private func willRetry(after loss: WebSocketSession.Loss) -> Bool {
        guard self.machine.state != .closing else { return false }
        switch self.reconnector.lost(self.configuration.decision(about: loss)) {
        case .retry, .waitForRoute: return true
        case .giveUp, .doNothing: return false
        }
    }

    /// Completes the end of the session.
    private func finished() {
        self.publish()
        defer { self.waiters.resumeClosing() }
        guard self.machine.state.isEnded else { return }  // a listener has restarted the session
        self.subscribers.sessionEnded(self.failure)
        self.waiters.failOpening(
            self.failure ?? WebSocketError(.closed, message: self.machine.state.reason, cause: self.lastFailure))
    }

    // MARK: Messages

    private func notify(_ event: WebSocketSession.Event) {
        self.subscribers.tell(event)
        // Check at every event, because a peer may send only Pongs.
        if self.subscribers.isFull { self.subscribersChanged() }
    }

    private func receivedMessage(_ message: WebSocketMessage) {
        if self.subscribers.received(message) { self.subscribersChanged() }
    }

    private func receivedPong(_ payload: ByteBuffer, _ roundTrip: Duration?) {
        if let roundTrip { self.snapshot.withLockedValue { $0.latency = roundTrip } }
        self.notify(.pong(payload, roundTrip: roundTrip))
    }

    func subscriberHasRoom(_ id: Int) {
        self.subscribers.hasRoom(id)
        self.subscribersChanged()
    }

    func removeSubscriber(_ id: Int) {
        self.subscribers.remove(id)
        self.subscribersChanged()
    }

    /// Updates the read pause after a change of the subscribers or of their queues.
    func subscribersChanged() {
        // While the hook runs, the hook controls reading. During the close handshake, the peer's
        // Close frame must be read.
        guard self.machine.state == .open, let connection = self.connection, connection.isOpen else { return }
        connection.setReading(paused: self.subscribers.isFull)
    }

    /// Checks an open connection after a network change.
    private func routeChanged() {
        if self.machine.state == .open { self.connection?.probe() }
    }
}

@available(*, unavailable)
extension WebSocketSessionCore: Sendable {}

// MARK: - Waits

/// The continuations that wait for a session to open or to end, and those that observe its state.
///
/// Each is removed exactly once. This is a class, because finishing a stream synchronously calls
/// its termination handler, which calls this object. Confined to the session's event loop.
final class WebSocketSessionWaiters {
    private var opening = LoopOperations<Void>()
    private var closing: [EventLoopPromise<Void>] = []
    private var watchers: [Int: EventStream<WebSocketSession.State>.Continuation] = [:]
    private var lastID = 0

    func waitForOpen(_ operation: LoopOperation<Void>) {
        self.opening.append(operation)
    }

    func waitForEnd(_ promise: EventLoopPromise<Void>) {
        self.closing.append(promise)
    }

    func watch(_ state: WebSocketSession.State, _ continuation: EventStream<WebSocketSession.State>.Continuation) -> Int {
        self.lastID += 1
        self.watchers[self.lastID] = continuation
        continuation.yield(state)
        return self.lastID
    }

    func unwatch(_ id: Int) {
        self.watchers.removeValue(forKey: id)
    }

    func stateChanged(_ state: WebSocketSession.State) {
        for (id, watcher) in self.watchers {
            if case .terminated = watcher.yield(state) { self.watchers.removeValue(forKey: id) }
        }
        guard state == .open else { return }
        for operation in self.opening.takeAll() { operation.succeed() }
    }

    /// Resumes the waits for the end of the session.
    func resumeClosing() {
        let closing = self.closing
        self.closing = []
        for promise in closing { promise.succeed() }
    }

    /// Fails the waits for an open connection when the session has ended.
    func failOpening(_ error: WebSocketError) {
        for operation in self.opening.takeAll() { operation.fail(error) }
    }

    /// Ends the state streams when the session is released.
    func finishWatchers() {
        let watchers = self.watchers
        self.watchers = [:]
        for watcher in watchers.values { watcher.finish() }
    }
}

@available(*, unavailable)
extension WebSocketSessionWaiters: Sendable {}

// MARK: - The hook

/// One run of the application's hook, with a deadline. Calls `finish` once, unless it is cancelled.
///
/// Confined to the connection's event loop.
final class WebSocketOpenHook {
    private var task: Task<Void, Never>?
    private var timer: Scheduled<Void>?
    private var finish: ((Result<Void, WebSocketError>) -> Void)?

    init(
        _ hook: @escaping @Sendable (WebSocketConnection) async throws -> Void, connection: WebSocketConnection, timeout: Duration,
        finish: @escaping (Result<Void, WebSocketError>) -> Void
    ) {
        self.finish = finish
        let eventLoop = connection.eventLoop
        self.timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            self.end(.failure(WebSocketError(.timeout, message: "`onOpen` did not return within \(timeout) (`onOpenTimeout`)")))
        }
        let box = NIOLoopBound(self, eventLoop: eventLoop)
        // `task` is cancelled whenever the run ends.
        self.task = Task {
            let result: Result<Void, WebSocketError>
            do {
                try await hook(connection)
                result = .success(())
            } catch {
                let failure = WebSocketError(.openHook, message: "`onOpen` failed", cause: error)
                result = .failure(error as? WebSocketError ?? failure)
            }
            eventLoop.execute { box.value.end(result) }
        }
    }

    /// Cancels the run without calling `finish`.
    func cancel() {
        self.finish = nil
        self.stop()
    }

    private func end(_ result: Result<Void, WebSocketError>) {
        self.stop()
        self.finish.take()?(result)
    }

    private func stop() {
        self.task?.cancel()
        self.task = nil
        self.timer?.cancel()
        self.timer = nil
    }
}

@available(*, unavailable)
extension WebSocketOpenHook: Sendable {}
