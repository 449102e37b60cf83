import ApusBytes
import ApusEngineIOProtocol
import ApusWebSocket
import ApusWebSocketProtocol
import DequeModule
import NIOConcurrencyHelpers
import NIOCore

/// Transfers messages between a WebSocket and a session on another event loop. Preserves the order,
/// bounds the queue, and uses one hop for all messages that are queued before the hop runs.
final class CrossLoopFlowControl: Sendable {
    /// A command of a session to its WebSocket.
    enum Command: Sendable {
        case output(WebSocketOutput)
        case close(WebSocketCloseCode)
        case abort

        var byteCount: Int {
            switch self {
            case .output(let output): output.byteCount
            case .close, .abort: 0
            }
        }
    }

    /// The size of the queued messages, in bytes, above which the WebSocket stops reading. Reading
    /// resumes at half of this size.
    static let highWatermark = 1 << 20
    /// The size of the queued commands, in bytes, above which the transport counts as full: NIO's
    /// default high watermark.
    static let commandWatermark = 64 << 10
    /// The fixed overhead of a message, so that empty messages count.
    fileprivate static let overhead = 256

    fileprivate struct State: Sendable {
        var messages: Deque<WebSocketMessage> = []
        var messageBytes = 0
        /// Whether a hop to the session is scheduled.
        var isSessionHopScheduled = false
        /// Whether the session handles no message until the client has drained its queue.
        var isSessionPaused = false
        var commands: [Command] = []
        /// The size of the commands that are not executed, in bytes.
        var commandBytes = 0
        /// Whether a hop to the WebSocket is scheduled.
        var isWebSocketHopScheduled = false
        /// The size of the transport's outgoing buffer, in bytes.
        var transportBytes = 0
        var isWritable = true
    }

    private let state = NIOLockedValueBox(State())
    private let queueLowMark: Int

    /// - Parameter queueLowMark: The size of the client's outgoing queue above which the session
    ///   receives none of the client's messages.
    init(queueLowMark: Int) {
        self.queueLowMark = queueLowMark
    }

    // MARK: From the client

    /// Queues a message for the session.
    ///
    /// - Returns: Whether to schedule a hop to the session, and whether the WebSocket must stop
    ///   reading.
    func enqueue(_ message: WebSocketMessage) -> (callsSession: Bool, isTooMuch: Bool) {
        self.state.withLockedValue { state in
            state.messages.append(message)
            state.messageBytes += message.payload.readableBytes + Self.overhead
            let calls = !state.isSessionHopScheduled && !state.isSessionPaused
            if calls { state.isSessionHopScheduled = true }
            return (calls, state.messageBytes > Self.highWatermark)
        }
    }

    /// Returns the next message for the session, and whether the WebSocket may resume reading.
    /// Returns `nil` if there is none, or if the client has to drain its queue first; in this case
    /// the session is called again later.
    func dequeue() -> (message: WebSocketMessage, makesRoom: Bool)? {
        self.state.withLockedValue { state -> (message: WebSocketMessage, makesRoom: Bool)? in
            if state.commandBytes + state.transportBytes > self.queueLowMark, !state.messages.isEmpty {
                state.isSessionPaused = true
                state.isSessionHopScheduled = false
                return nil
            }
            return state.next()
        }
    }

    /// Returns the next message regardless of the queue, after the WebSocket has closed.
    func dequeueAfterClose() -> WebSocketMessage? { self.state.withLockedValue { $0.next()?.message } }

    /// Whether a paused WebSocket may resume reading.
    var hasRoom: Bool { self.state.withLockedValue { $0.hasRoom } }

    // MARK: To the client

    /// Queues a command for the WebSocket. Returns whether to schedule a hop to it.
    func send(_ command: Command) -> Bool {
        self.state.withLockedValue { state in
            state.commands.append(command)
            state.commandBytes += command.byteCount
            defer { state.isWebSocketHopScheduled = true }
            return !state.isWebSocketHopScheduled
        }
    }

    /// Removes and returns all queued commands. Call
    /// ``commandsExecuted(_:isWritable:queuedBytes:)`` after executing them.
    func takeCommands() -> [Command] {
        self.state.withLockedValue { state in
            state.isWebSocketHopScheduled = false
            return exchange(&state.commands, with: [])
        }
    }

    /// The notifications to the session after a change of the transport's queue.
    struct Notifications: Equatable {
        /// Whether the session may handle the client's messages again.
        var resumes = false
        /// Whether the WebSocket has become writable.
        var drains = false
    }

    /// Records that commands were executed, and the transport's state after them.
    func commandsExecuted(_ commands: [Command], isWritable: Bool, queuedBytes: Int) -> Notifications {
        let bytes = commands.reduce(0) { $0 + $1.byteCount }
        return self.state.withLockedValue { state in
            let wasWritable = state.takesMore
            state.commandBytes -= bytes
            return self.changed(&state, isWritable, queuedBytes, wasWritable)
        }
    }

    /// Records a change of the transport's state.
    func transportChanged(isWritable: Bool, queuedBytes: Int) -> Notifications {
        self.state.withLockedValue { state in self.changed(&state, isWritable, queuedBytes, state.takesMore) }
    }

    private func changed(_ state: inout State, _ isWritable: Bool, _ queuedBytes: Int, _ wasWritable: Bool) -> Notifications {
        state.isWritable = isWritable
        state.transportBytes = queuedBytes
        var notifications = Notifications(drains: !wasWritable && state.takesMore)
        if state.isSessionPaused, state.commandBytes + queuedBytes <= self.queueLowMark / 2 {
            state.isSessionPaused = false
            state.isSessionHopScheduled = true
            notifications.resumes = true
        }
        return notifications
    }

    /// Whether the transport accepts more output, with queued commands taken into account.
    var isWritable: Bool { self.state.withLockedValue { $0.takesMore } }
}

extension CrossLoopFlowControl.State {
    fileprivate var takesMore: Bool { self.isWritable && self.commandBytes <= CrossLoopFlowControl.commandWatermark }

    fileprivate var hasRoom: Bool { self.messageBytes <= CrossLoopFlowControl.highWatermark / 2 }

    fileprivate mutating func next() -> (message: WebSocketMessage, makesRoom: Bool)? {
        guard let message = self.messages.popFirst() else {
            self.isSessionHopScheduled = false
            return nil
        }
        let hadRoom = self.hasRoom
        self.messageBytes -= message.payload.readableBytes + CrossLoopFlowControl.overhead
        return (message, !hadRoom && self.hasRoom)
    }
}
