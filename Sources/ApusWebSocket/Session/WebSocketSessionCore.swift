import ApusConnectivity
import ApusWebSocketProtocol
import DequeModule
import Logging
import NIOConcurrencyHelpers
import NIOCore

/// The shell of ``WebSocketSessionStateMachine``: owns the attempt, the connection, the hook and the timers.
///
/// Unchecked because: all but the constants and the box is touched on `eventLoop` only, which ``onLoop(_:)`` and the connection see to.
final class WebSocketSessionCore: @unchecked Sendable {
    let eventLoop: any EventLoop
    let url: String
    let configuration: WebSocketSessionConfiguration
    let logger: Logger

    /// What any thread may ask.
    struct Snapshot: Sendable {
        var state = WebSocketSession.State.idle
        /// Only while messages can be sent on it.
        var connection: WebSocketConnection?
        var attempt = 0
        var latency: Duration?
        var lastClosure: WebSocketClosure?
        var lastError: WebSocketError?
        var droppedMessages = 0
    }
    let snapshot = NIOLockedValueBox(Snapshot())

    // MARK: Event loop

    private var machine: WebSocketSessionStateMachine
    private var generator = SystemRandomNumberGenerator()
    private let startedAt: NIODeadline
    private var opener: WebSocketOpener?
    private var connection: WebSocketConnection?
    private var hook: WebSocketOpenHook?
    private var retryTimer: Scheduled<Void>?
    /// Why the session is not open, for those who wait for it.
    private var lastFailure: WebSocketError?
    var network: NetworkWatch
    let subscribers: SessionSubscribers
    let waiters = WebSocketSessionWaiters()

    init(url: String, configuration: WebSocketSessionConfiguration, logger: Logger, eventLoop: any EventLoop) {
        self.url = url
        self.configuration = configuration
        self.logger = logger
        self.eventLoop = eventLoop
        self.startedAt = eventLoop.now
        self.machine = WebSocketSessionStateMachine(reconnection: configuration.reconnection, queue: configuration.queue)
        self.subscribers = SessionSubscribers(flow: configuration.client.flow)
        self.network = NetworkWatch(host: (try? WebSocketURL(url))?.host ?? "")
    }

    /// Runs `body` on the event loop: at once when there already, so that what a handler sends keeps its place.
    func onLoop(_ body: @escaping @Sendable (WebSocketSessionCore) -> Void) {
        if self.eventLoop.inEventLoop { body(self) } else { self.eventLoop.execute { body(self) } }
    }

    var state: WebSocketSession.State { self.machine.state }

    /// What ended the session, if it failed.
    var failure: WebSocketError? { self.machine.state == .failed ? self.lastFailure : nil }

    private var now: Duration { Duration(self.eventLoop.now - self.startedAt) }

    /// Shows the outside what the machine has decided.
    private func publish() {
        let state = self.machine.state
        let connection = state == .open ? self.connection : nil
        let changed = self.snapshot.withLockedValue { snapshot in
            defer {
                snapshot.state = state
                snapshot.connection = connection
                snapshot.attempt = self.machine.attempt
                snapshot.droppedMessages = self.machine.queue.dropped
            }
            return snapshot.state != state
        }
        guard changed else { return }
        self.logger.debug("WebSocket session", metadata: ["websocket.state": "\(state)", "websocket.attempt": "\(self.machine.attempt)"])
        self.waiters.stateChanged(state)
    }

    // MARK: The user

    func connect(again: Bool) {
        if again || self.machine.state == .idle { self.watchNetwork() }
        if case .connect = self.machine.connectRequested(again: again) {
            self.attempt()
        } else {
            self.publish()
        }
    }

    func close(code: WebSocketCloseCode, reason: String) {
        switch self.machine.closeRequested() {
        case .cancel:
            self.cancelAll()
            self.finished()
        case .closeConnection:
            self.hook?.cancel()
            self.hook = nil
            self.publish()
            self.connection?.startClosing(code: code, reason: reason)
        case .doNothing:
            break
        }
    }

    private func cancelAll() {
        self.retryTimer?.cancel()
        self.retryTimer = nil
        let opener = self.opener
        self.opener = nil  // first: its end is not news
        opener?.cancel()
    }

    /// Sends, or queues as the configuration says.
    func send(_ message: WebSocketMessage) -> Result<Void, WebSocketError> {
        switch self.machine.send(message) {
        case .send:
            guard let connection = self.connection, connection.post(message) else {
                return .failure(WebSocketError(.queueFull, message: "the connection is closing, or too much waits for the peer"))
            }
            return .success(())
        case .queued:
            self.publish()
            return .success(())
        case .queuedAndConnect:
            self.watchNetwork()
            self.attempt()
            return .success(())
        case .refuse(let error):
            return .failure(error)
        }
    }

    // MARK: An attempt

    private func attempt() {
        self.retryTimer?.cancel()
        self.retryTimer = nil
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
                self.attemptFailed(error as? WebSocketError ?? WebSocketError(.transport, message: "the attempt failed", cause: error))
            }
        }
    }

    private func opened(_ connection: WebSocketConnection) {
        switch self.machine.opened() {
        case .abort:
            connection.abort()
        case .runHook:
            self.connection = connection
            connection.onClose { [self, unowned connection] closure in self.ended(connection, closure) }
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
        // A connection that closes already takes nothing: what waits stays for the next one, as its end will say.
        guard let connection = self.connection, let handler = connection.handler, handler.isOpen,
            case .flush(let messages) = self.machine.hookFinished(at: self.now)
        else { return }
        // Not posted: the bound on what is posted may be below the queue's own, which they have passed.
        for message in messages { handler.send(message) }
        if !messages.isEmpty { handler.flushNow() }  // so that they do not count against what is posted in this turn
        self.publish()
        self.tell(.opened(subprotocol: connection.subprotocol))
        guard connection === self.connection else { return }  // a listener has closed
        connection.onPong { [weak self] _, payload, roundTrip in self?.receivedPong(payload, roundTrip) }
        connection.onMessage { [weak self] _, message in self?.received(message) }
        self.audienceChanged()
    }

    private func hookFailed(_ error: WebSocketError) {
        let connection = self.connection
        self.connection = nil  // first: its end is not news
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
        let action = self.machine.lost(
            at: self.now, byPeer: byPeer, decision: self.configuration.decision(about: loss), using: &self.generator)
        switch action {
        case .retry(let delay, _):
            self.retryTimer = self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { self.retryTimerFired() }
            self.publish()
            self.tell(event(true))
        case .waitForRoute:
            self.publish()
            self.tell(event(true))
        case .finish:
            self.publish()
            self.tell(event(false))
            self.finished()
        case .doNothing:
            break
        }
    }

    private func retryTimerFired() {
        self.retryTimer = nil
        if case .connect = self.machine.timerFired() { self.attempt() }
    }

    /// The session has ended.
    private func finished() {
        self.publish()
        defer { self.waiters.resumeClosing() }
        guard self.machine.state.isEnded else { return }  // a listener has begun anew
        self.network.stop()
        _ = self.machine.routeFound()  // who no longer looks must not go on believing that there is none
        self.subscribers.sessionEnded(self.failure)
        let error = self.failure ?? WebSocketError(.closed, message: "the session is \(self.machine.state)", cause: self.lastFailure)
        self.waiters.failOpening(error)
    }

    // MARK: Messages

    private func tell(_ event: WebSocketSession.Event) {
        self.subscribers.tell(event)
        // Also for what is no message: a peer may send nothing but Pongs.
        if self.subscribers.isFull { self.audienceChanged() }
    }

    private func received(_ message: WebSocketMessage) {
        if self.subscribers.received(message) { self.audienceChanged() }
    }

    private func receivedPong(_ payload: ByteBuffer, _ roundTrip: Duration?) {
        if let roundTrip { self.snapshot.withLockedValue { $0.latency = roundTrip } }
        self.tell(.pong(payload, roundTrip: roundTrip))
    }

    /// The audience has changed, or has room again.
    func audienceChanged() {
        // While the hook runs, reading is the hook's; while we close, the peer's answer must be read.
        guard self.machine.state == .open, let connection = self.connection, connection.isOpen else { return }
        connection.setReading(paused: self.subscribers.isFull)
    }

    // MARK: The network

    func routeLost() {
        if case .cancelTimer = self.machine.routeLost() {
            self.retryTimer?.cancel()
            self.retryTimer = nil
        }
    }

    func routeFound() {
        switch self.machine.routeFound() {
        case .connect: self.attempt()
        case .probe: self.connection?.probe()
        case .doNothing: break
        }
    }
}
