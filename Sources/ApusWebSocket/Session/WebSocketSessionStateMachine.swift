import ApusEventLoop
import ApusWebSocketProtocol
import NIOCore

/// The state machine of a WebSocket session. It decides when to queue, send, close and end.
///
/// It performs no I/O. ``WebSocketSessionCore`` owns the attempt, the connection, the hook and the
/// reconnector, which decides when to connect.
struct WebSocketSessionStateMachine {
    private enum Phase {
        /// No connection was requested yet. Transitions to `waiting` or `ended` (close).
        case idle
        /// An attempt is in progress. Transitions to `opening`, `waiting` or `ended`.
        case connecting
        /// The connection is open and the application's hook is running. Transitions to `open`,
        /// `waiting`, `closing` or `ended`.
        case opening
        /// Messages are exchanged. Transitions to `waiting`, `closing` or `ended`.
        case open
        /// The application has closed the session. Transitions to `ended`.
        case closing
        /// A connection is requested, and the reconnector decides when to attempt it. Transitions
        /// to `connecting` or `ended`.
        case waiting
        /// The session has ended. Transitions to `waiting` when a connection is requested again.
        case ended(WebSocketSession.State)
    }

    private var phase = Phase.idle
    private let queueLimits: WebSocketSendQueue
    private var queue: BoundedQueue<WebSocketMessage>

    init(queue: WebSocketSendQueue) {
        self.queueLimits = queue
        self.queue = BoundedQueue(maximumCount: queue.maximumMessages, maximumBytes: queue.maximumBytes)
    }

    /// The state that the public API reports.
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

    /// The number of messages that the queue has dropped.
    var droppedMessages: Int { self.queue.dropped }

    // MARK: The user

    enum ConnectAction: Equatable {
        /// Start the reconnector.
        case start
        case doNothing
    }

    /// Requests a connection.
    ///
    /// - Parameter again: Whether to restart a session that has ended. With `false`, only an idle
    ///   session starts.
    mutating func connectRequested(again: Bool) -> ConnectAction {
        switch self.phase {
        case .idle: break
        case .ended:
            guard again else { return .doNothing }
        case .connecting, .opening, .open, .waiting, .closing:
            return .doNothing  // already connecting or open; a close is not reversed
        }
        self.phase = .waiting
        return .start
    }

    enum CloseAction: Equatable {
        /// The session has ended: stop the reconnector and the attempt.
        case cancel
        /// Stop the reconnector and start the close handshake.
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
            _ = self.queue.takeAll()
            self.phase = .closing
            return .closeConnection
        case .closing, .ended:
            return .doNothing  // already closed
        }
    }

    enum SendAction: Equatable {
        /// Send the message over the connection.
        case send
        /// The message is queued, or dropped according to the policy.
        case queued
        /// The message is queued, or dropped according to the policy; start the reconnector.
        case queuedAndStart
        case refuse(WebSocketError)
    }

    /// Sends or queues a message.
    mutating func send(_ message: WebSocketMessage) -> SendAction {
        switch self.phase {
        case .open:
            return .send
        case .closing, .ended:
            return .refuse(WebSocketError(.closed, message: "the message was not sent: \(self.state.reason)"))
        case .idle, .connecting, .opening, .waiting:
            let size = message.payload.readableBytes
            guard self.queue.append(message, bytes: size, otherwise: self.queueLimits.overflow.policy) else {
                let limits = self.queueLimits
                return .refuse(
                    WebSocketError(
                        .queueFull,
                        message: """
                            a message of \(size) bytes does not fit into the send queue, which has \(self.queue.count) messages; \
                            the maximum is \(limits.maximumMessages) messages with \(limits.maximumBytes) bytes in total (`queue`)
                            """))
            }
            return self.connectRequested(again: false) == .start ? .queuedAndStart : .queued
        }
    }

    private mutating func end(_ state: WebSocketSession.State) {
        _ = self.queue.takeAll()
        self.phase = .ended(state)
    }

    // MARK: The connection

    /// Handles the reconnector's decision to make an attempt. Returns whether to connect.
    mutating func attemptStarted() -> Bool {
        guard case .waiting = self.phase else { return false }
        self.phase = .connecting
        return true
    }

    enum OpenedAction: Equatable {
        /// Run the application's hook, then call ``hookFinished()``.
        case runHook
        /// Abort the connection, because the session does not need it.
        case abort
    }

    /// Handles a successful attempt.
    mutating func opened() -> OpenedAction {
        switch self.phase {
        case .connecting:
            self.phase = .opening
            return .runHook
        case .idle, .opening, .open, .closing, .waiting, .ended:
            return .abort  // the application closed the session at the same time
        }
    }

    enum HookAction: Equatable {
        /// Send these messages first.
        case flush([WebSocketMessage])
        case doNothing
    }

    /// Handles the success of the application's hook.
    mutating func hookFinished() -> HookAction {
        switch self.phase {
        case .opening:
            self.phase = .open
            return .flush(self.queue.takeAll())
        case .idle, .connecting, .open, .closing, .waiting, .ended:
            return .doNothing  // the session was closed at the same time
        }
    }

    enum LostAction: Equatable {
        /// The session waits for the next attempt.
        case wait
        /// The session has ended, with ``state``.
        case finish
        case doNothing
    }

    /// Handles a failed attempt, a failed hook, or the end of a connection.
    ///
    /// - Parameters:
    ///   - byPeer: Whether the peer closed the connection with a Close frame.
    ///   - willRetry: Whether the reconnector will make another attempt.
    mutating func lost(byPeer: Bool, willRetry: Bool) -> LostAction {
        switch self.phase {
        case .closing:
            self.end(.closedByUser)
            return .finish
        case .idle, .waiting, .ended:
            return .doNothing  // already handled
        case .connecting, .opening, .open:
            guard willRetry else {
                self.end(byPeer ? .closedByPeer : .failed)
                return .finish
            }
            self.phase = .waiting
            return .wait
        }
    }
}

extension WebSocketSendQueue.Overflow {
    fileprivate var policy: BoundedQueue<WebSocketMessage>.Overflow {
        switch self {
        case .fail: .refuse
        case .dropOldest: .dropOldest
        case .dropNewest: .dropNewest
        }
    }
}
