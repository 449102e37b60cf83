import ApusConnectivity
import ApusWebSocketProtocol

/// The state of a WebSocket session: decides when to connect, queue, send, reconnect and end.
///
/// Pure. ``WebSocketSessionCore`` owns the attempt, the connection, the hook and the timer. Times
/// are arguments, as in ``ReconnectionStateMachine``, which counts the attempts.
struct WebSocketSessionStateMachine {
    private enum Phase {
        /// No connection was requested yet. Leaves to `connecting`, `waiting` (no route) or `ended`
        /// (close).
        case idle
        /// An attempt is in progress. Leaves to `opening`, `waiting` or `ended`.
        case connecting
        /// The connection is open and the application's hook runs. Leaves to `open`, `waiting`,
        /// `closing` or `ended`.
        case opening
        /// Messages are exchanged. Leaves to `waiting`, `closing` or `ended`.
        case open
        /// The user has closed. Leaves to `ended`.
        case closing
        /// No connection; a timer runs, or the session waits for a route. Leaves to `connecting` or
        /// `ended`.
        case waiting
        /// Leaves to `connecting` or `waiting` when a connection is requested again.
        case ended(WebSocketSession.State)
    }

    private var phase = Phase.idle
    private var reconnection: ReconnectionStateMachine
    private(set) var queue: WebSocketSendQueueState

    init(reconnection: ReconnectionPolicy, queue: WebSocketSendQueue) {
        self.reconnection = ReconnectionStateMachine(policy: reconnection)
        self.queue = WebSocketSendQueueState(queue)
    }

    /// The public state.
    var state: WebSocketSession.State {
        switch self.phase {
        case .idle: .idle
        case .connecting, .opening: .connecting
        case .open: .open
        case .closing: .closing
        case .waiting: .waitingToReconnect
        case .ended(let state): state
        }
    }

    /// The number of the present attempt after a loss.
    var attempt: Int { self.reconnection.attempt }

    // MARK: The user

    enum ConnectAction: Equatable { case connect, doNothing }

    /// Requests a connection.
    ///
    /// - Parameter again: Whether to restart a session that has ended. Otherwise only an idle
    ///   session starts.
    mutating func connectRequested(again: Bool) -> ConnectAction {
        switch self.phase {
        case .idle: break
        case .ended:
            guard again else { return .doNothing }
        case .connecting, .opening, .open, .waiting, .closing:
            return .doNothing  // already connecting or open; a close is not reversed
        }
        switch self.reconnection.start() {
        case .connect:
            self.phase = .connecting
            return .connect
        case .waitForRoute:
            self.phase = .waiting
            return .doNothing
        case .doNothing:
            return .doNothing
        }
    }

    enum CloseAction: Equatable {
        /// The session has ended: stop the attempt.
        case cancel
        /// Start the close handshake.
        case closeConnection
        case doNothing
    }

    /// Closes the session. No further attempt is made.
    mutating func closeRequested() -> CloseAction {
        switch self.phase {
        case .idle, .connecting, .waiting:
            self.end(.closedByUser)
            return .cancel
        case .opening, .open:
            self.reconnection.stop()
            _ = self.queue.takeAll()
            self.phase = .closing
            return .closeConnection
        case .closing, .ended:
            return .doNothing  // already closed
        }
    }

    enum SendAction: Equatable {
        /// Send it on the connection.
        case send
        /// The message is queued, or dropped according to the policy.
        case queued
        /// As `queued`, and the session starts to connect.
        case queuedAndConnect
        case refuse(WebSocketError)
    }

    /// Sends or queues a message.
    mutating func send(_ message: WebSocketMessage) -> SendAction {
        switch self.phase {
        case .open:
            return .send
        case .closing, .ended:
            return .refuse(WebSocketError(.closed, message: "the session is \(self.state)"))
        case .idle, .connecting, .opening, .waiting:
            guard self.queue.append(message) else {
                return .refuse(
                    WebSocketError(.queueFull, message: "the send queue is full: \(self.queue.count) messages wait for a connection")
                )
            }
            if case .connect = self.connectRequested(again: false) { return .queuedAndConnect }
            return .queued
        }
    }

    private mutating func end(_ state: WebSocketSession.State) {
        self.reconnection.stop()
        _ = self.queue.takeAll()
        self.phase = .ended(state)
    }

    // MARK: The connection

    enum OpenedAction: Equatable {
        /// Run the application's hook, then call ``hookFinished(at:)``.
        case runHook
        /// Abort: the connection is no longer wanted.
        case abort
    }

    /// Handles a successful attempt.
    mutating func opened() -> OpenedAction {
        switch self.phase {
        case .connecting:
            self.phase = .opening
            return .runHook
        case .idle, .opening, .open, .closing, .waiting, .ended:
            return .abort  // the user closed at the same time
        }
    }

    enum HookAction: Equatable {
        /// Send these messages first.
        case flush([WebSocketMessage])
        case doNothing
    }

    /// Handles the success of the application's hook.
    mutating func hookFinished(at now: Duration) -> HookAction {
        switch self.phase {
        case .opening:
            self.phase = .open
            _ = self.reconnection.opened(at: now)
            return .flush(self.queue.takeAll())
        case .idle, .connecting, .open, .closing, .waiting, .ended:
            return .doNothing  // the session was closed at the same time
        }
    }

    enum LostAction: Equatable {
        /// Start the timer.
        case retry(after: Duration, attempt: Int)
        /// Wait for a route.
        case waitForRoute
        /// The session has ended, with ``state``.
        case finish
        case doNothing
    }

    /// Handles a failed attempt, a failed hook, or the end of a connection.
    ///
    /// - Parameters:
    ///   - byPeer: Whether the peer closed an open connection in order.
    ///   - decision: Whether the cause permits another attempt.
    mutating func lost(
        at now: Duration, byPeer: Bool, decision: RetryDecision, using generator: inout some RandomNumberGenerator
    ) -> LostAction {
        switch self.phase {
        case .closing:
            self.end(.closedByUser)
            return .finish
        case .idle, .waiting, .ended:
            return .doNothing  // already handled
        case .connecting, .opening, .open:
            break
        }
        switch self.reconnection.lost(at: now, decision: decision, using: &generator) {
        case .retry(let delay, let attempt):
            self.phase = .waiting
            return .retry(after: delay, attempt: attempt)
        case .waitForRoute:
            self.phase = .waiting
            return .waitForRoute
        case .giveUp, .doNothing:
            self.end(byPeer ? .closedByPeer : .failed)
            return .finish
        }
    }

    enum TimerAction: Equatable { case connect, doNothing }

    /// Handles the end of the wait before an attempt.
    mutating func timerFired() -> TimerAction {
        guard case .waiting = self.phase, case .connect = self.reconnection.timerFired() else { return .doNothing }
        self.phase = .connecting
        return .connect
    }

    // MARK: The network

    enum RouteLostAction: Equatable { case cancelTimer, doNothing }

    /// Handles the loss of the route to the server.
    mutating func routeLost() -> RouteLostAction {
        switch self.reconnection.routeLost() {
        case .cancelTimer: .cancelTimer
        case .doNothing: .doNothing
        }
    }

    enum RouteFoundAction: Equatable {
        /// Cancel the timer and connect now.
        case connect
        /// The open connection used another route: check whether it still works.
        case probe
        case doNothing
    }

    /// Handles a new or changed route to the server.
    mutating func routeFound() -> RouteFoundAction {
        switch self.reconnection.routeFound() {
        case .connect:
            self.phase = .connecting
            return .connect
        case .doNothing:
            if case .open = self.phase { return .probe }
            return .doNothing
        }
    }
}
