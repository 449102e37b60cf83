import ApusConnectivity
import ApusWebSocketProtocol

/// Keeps a WebSocket up: what happens, in, what to do, out.
///
/// Pure. The shell owns the attempt, the connection, the hook and the timer; times come in as in ``ReconnectionStateMachine``, which
/// counts the attempts.
struct WebSocketSessionStateMachine {
    private enum Phase {
        /// Nobody has asked. Leaves to `connecting`, `waiting` (no route) or `ended` (close).
        case idle
        /// An attempt is on its way. Leaves to `opening`, `waiting` or `ended`.
        case connecting
        /// The connection stands and the application's hook runs. Leaves to `open`, `waiting`, `closing` or `ended`.
        case opening
        /// Messages flow. Leaves to `waiting`, `closing` or `ended`.
        case open
        /// The user has closed. Leaves to `ended`.
        case closing
        /// No connection; a timer runs, or a route is awaited. Leaves to `connecting` or `ended`.
        case waiting
        /// Leaves to `connecting` or `waiting` when somebody wants a connection again.
        case ended(WebSocketSession.State)
    }

    private var phase = Phase.idle
    private var reconnection: ReconnectionStateMachine
    private(set) var queue: WebSocketSendQueueState

    init(reconnection: ReconnectionPolicy, queue: WebSocketSendQueue) {
        self.reconnection = ReconnectionStateMachine(policy: reconnection)
        self.queue = WebSocketSendQueueState(queue)
    }

    /// What the user sees.
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

    /// Somebody wants the connection.
    ///
    /// - Parameter again: Also when the session has ended; otherwise only a session that has not begun begins.
    mutating func connectRequested(again: Bool) -> ConnectAction {
        switch self.phase {
        case .idle: break
        case .ended:
            guard again else { return .doNothing }
        case .connecting, .opening, .open, .waiting, .closing:
            return .doNothing  // on its way; and one that closes is not turned round
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
        /// The session has ended: stop what is on its way.
        case cancel
        /// Start the close handshake.
        case closeConnection
        case doNothing
    }

    /// The user closes. No attempt follows, whatever else happens.
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
            return .doNothing  // closing twice is closing once
        }
    }

    enum SendAction: Equatable {
        /// Send it on the connection.
        case send
        /// It waits, or was thrown away as the policy says.
        case queued
        /// As `queued`, and it is what begins the session.
        case queuedAndConnect
        case refuse(WebSocketError)
    }

    /// Somebody sends.
    mutating func send(_ message: WebSocketMessage) -> SendAction {
        switch self.phase {
        case .open:
            return .send
        case .closing, .ended:
            return .refuse(WebSocketError(.closed, message: "the session is \(self.state)"))
        case .idle, .connecting, .opening, .waiting:
            guard self.queue.append(message) else {
                return .refuse(
                    WebSocketError(.queueFull, message: "\(self.queue.count) messages wait for a connection, and there is no room for more")
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
        /// Let the application log in, then call ``hookFinished(at:)``.
        case runHook
        /// Nobody wants it any more.
        case abort
    }

    /// The attempt succeeded.
    mutating func opened() -> OpenedAction {
        switch self.phase {
        case .connecting:
            self.phase = .opening
            return .runHook
        case .idle, .opening, .open, .closing, .waiting, .ended:
            return .abort  // it raced with the user's close
        }
    }

    enum HookAction: Equatable {
        /// Send these first.
        case flush([WebSocketMessage])
        case doNothing
    }

    /// The application has logged in.
    mutating func hookFinished(at now: Duration) -> HookAction {
        switch self.phase {
        case .opening:
            self.phase = .open
            _ = self.reconnection.opened(at: now)
            return .flush(self.queue.takeAll())
        case .idle, .connecting, .open, .closing, .waiting, .ended:
            return .doNothing  // it raced with a close
        }
    }

    enum LostAction: Equatable {
        /// Start the timer.
        case retry(after: Duration, attempt: Int)
        /// Wait for the network.
        case waitForRoute
        /// The session has ended as ``state`` says.
        case finish
        case doNothing
    }

    /// An attempt or the hook failed, or a connection ended.
    ///
    /// - Parameters:
    ///   - byPeer: The peer closed an open connection in order.
    ///   - decision: What the cause says about another attempt.
    mutating func lost(
        at now: Duration, byPeer: Bool, decision: RetryDecision, using generator: inout some RandomNumberGenerator
    ) -> LostAction {
        switch self.phase {
        case .closing:
            self.end(.closedByUser)
            return .finish
        case .idle, .waiting, .ended:
            return .doNothing  // counted already
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

    /// The wait is over.
    mutating func timerFired() -> TimerAction {
        guard case .waiting = self.phase, case .connect = self.reconnection.timerFired() else { return .doNothing }
        self.phase = .connecting
        return .connect
    }

    // MARK: The network

    enum RouteLostAction: Equatable { case cancelTimer, doNothing }

    /// There is no way to the server.
    mutating func routeLost() -> RouteLostAction {
        switch self.reconnection.routeLost() {
        case .cancelTimer: .cancelTimer
        case .doNothing: .doNothing
        }
    }

    enum RouteFoundAction: Equatable {
        /// Cancel the timer and make the attempt now.
        case connect
        /// The connection was made over another way: ask whether it still stands.
        case probe
        case doNothing
    }

    /// There is a way to the server again, or another one than before.
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
