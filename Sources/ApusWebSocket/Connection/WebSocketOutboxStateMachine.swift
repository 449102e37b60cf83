import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// Messages on their way from any thread to the event loop.
///
/// Many sends become one hop: the first schedules it, the others join. Above the watermark, and while the transport is not
/// writable, senders wait in order. Pure: senders are numbers here, the shell owns their continuations.
struct WebSocketOutboxStateMachine {
    /// Bytes that may wait for the hop, NIO's own high watermark.
    private static let watermark = 64 << 10

    private enum State {
        /// Leaves to `ended`.
        case open
        /// Nothing is sent any more, because of this error. Final.
        case ended(WebSocketError)
    }

    private let flow: WebSocketFlowControl
    private var state = State.open
    private var isWritable = true
    private var messages: [WebSocketMessage] = []
    private var bytes = 0
    private var hopIsScheduled = false
    private var senders = Deque<(id: Int, message: WebSocketMessage)>()

    init(flow: WebSocketFlowControl) {
        self.flow = flow
    }

    private var hasRoom: Bool { self.isWritable && self.bytes < Self.watermark }

    private mutating func append(_ message: WebSocketMessage) {
        self.messages.append(message)
        self.bytes += message.payload.readableBytes + 16  // an empty message takes room as well
    }

    /// Whether a hop must be scheduled; says so once.
    private mutating func needsHop() -> Bool {
        guard !self.hopIsScheduled, !self.messages.isEmpty else { return false }
        self.hopIsScheduled = true
        return true
    }

    enum SendAction: Equatable {
        case queued(scheduleHop: Bool)
        case wait
        case refuse(WebSocketError)
    }

    /// Somebody sends, and may wait.
    mutating func send(_ message: WebSocketMessage, sender: Int) -> SendAction {
        if case .ended(let error) = self.state { return .refuse(error) }
        guard self.senders.isEmpty, self.hasRoom else {
            self.senders.append((sender, message))
            return .wait
        }
        self.append(message)
        return .queued(scheduleHop: self.needsHop())
    }

    enum PostAction: Equatable {
        case queued(scheduleHop: Bool)
        case overflow(WebSocketFlowControl.Overflow)
        case refuse
    }

    /// Somebody sends from outside of the event loop, and will not wait.
    mutating func post(_ message: WebSocketMessage) -> PostAction {
        guard case .open = self.state else { return .refuse }
        guard self.bytes + message.payload.readableBytes <= self.flow.postedBytes else { return .overflow(self.flow.overflow) }
        self.append(message)
        return .queued(scheduleHop: self.needsHop())
    }

    /// A sender's task was cancelled. `true`: it waited, its message is not sent.
    mutating func cancelled(sender: Int) -> Bool {
        guard let index = self.senders.firstIndex(where: { $0.id == sender }) else { return false }
        self.senders.remove(at: index)
        return true
    }

    /// The hop has come to the event loop: these are to be written now.
    mutating func hopped() -> [WebSocketMessage] {
        self.hopIsScheduled = false
        self.bytes = 0
        let messages = self.messages
        self.messages = []
        return messages
    }

    /// What was taken is written, or the transport's buffer crossed a watermark. Answers the senders that wait no longer.
    mutating func transportBecame(writable isWritable: Bool) -> (senders: [Int], scheduleHop: Bool) {
        guard case .open = self.state else { return ([], false) }
        self.isWritable = isWritable
        var resumed: [Int] = []
        while self.hasRoom, let sender = self.senders.popFirst() {
            self.append(sender.message)
            resumed.append(sender.id)
        }
        return (resumed, self.needsHop())
    }

    /// Nothing is sent any more. Answers the senders that waited.
    mutating func ended(_ error: WebSocketError) -> [Int] {
        guard case .open = self.state else { return [] }
        self.state = .ended(error)
        self.messages = []
        self.bytes = 0
        defer { self.senders.removeAll() }
        return self.senders.map(\.id)
    }
}
