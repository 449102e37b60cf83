import ApusWebSocketProtocol
import DequeModule
import NIOCore

/// The queue of messages from any thread to the event loop.
///
/// Several sends share one hop, which the first send schedules. Above the watermark, and while the
/// transport is not writable, senders wait in order. The state machine identifies senders by
/// numbers; ``WebSocketOutbox`` owns their continuations.
struct WebSocketOutboxStateMachine {
    /// The number of bytes that may wait for the hop. It equals NIO's default high watermark.
    private static let watermark = 64 << 10

    private enum State {
        /// Messages are accepted. Transitions to `ended`.
        case open
        /// No further message is accepted, because of this error. Final.
        indirect case ended(WebSocketError)
    }

    private let flow: WebSocketFlowControl
    private var state = State.open
    private var isWritable = true
    private var items: [OutboundItem] = []
    private var bytes = 0
    /// The number of the fragmented message that is not complete. Messages of other senders must
    /// not be queued between its pieces.
    private var openMessage: Int?
    /// The number of bytes in the transport's buffer at the last check. It is used only while the
    /// transport is not writable, because changes below the watermark are not reported.
    private var transportBytes = 0
    /// Whether a message was posted or refused based on ``transportBytes``, which may be out of
    /// date. The event loop must check the limit.
    private var needsLimitCheck = false
    private var hopIsScheduled = false
    private var senders = Deque<(id: Int, item: OutboundItem)>()

    init(flow: WebSocketFlowControl) {
        self.flow = flow
    }

    private var hasRoom: Bool { self.isWritable && self.bytes < Self.watermark }

    /// Whether items wait for the hop.
    var isWaiting: Bool { !self.items.isEmpty }

    private mutating func append(_ item: OutboundItem) {
        if case .piece(let piece) = item { self.openMessage = piece.isLast ? nil : piece.message }
        self.items.append(item)
        self.bytes += item.byteCount + 16  // an empty message also requires memory
    }

    /// Returns whether an item continues the fragmented message.
    private func continuesOpenMessage(_ item: OutboundItem) -> Bool {
        if case .piece(let piece) = item { piece.message == self.openMessage } else { false }
    }

    /// Returns whether a hop must be scheduled, and marks it as scheduled.
    private mutating func needsHop() -> Bool {
        guard !self.hopIsScheduled, self.isWaiting || self.needsLimitCheck else { return false }
        self.hopIsScheduled = true
        return true
    }

    enum SendAction: Equatable {
        case queued(scheduleHop: Bool)
        case wait
        case refuse(WebSocketError)
    }

    /// Queues an item of a sender, or makes the sender wait.
    mutating func send(_ item: OutboundItem, sender: Int) -> SendAction {
        if case .ended(let error) = self.state { return .refuse(error) }
        let continues = self.continuesOpenMessage(item)
        guard self.hasRoom, continues || (self.senders.isEmpty && self.openMessage == nil) else {
            if continues { self.senders.prepend((sender, item)) } else { self.senders.append((sender, item)) }
            return .wait
        }
        self.append(item)
        return .queued(scheduleHop: self.needsHop())
    }

    enum PostAction: Equatable {
        case queued(scheduleHop: Bool)
        case overflow(WebSocketFlowControl.Overflow, scheduleHop: Bool)
        case refuse
    }

    /// Queues a message from outside the event loop, without waiting.
    mutating func post(_ message: WebSocketMessage) -> PostAction {
        guard case .open = self.state else { return .refuse }
        let waiting = self.bytes + message.payload.readableBytes
        guard waiting <= self.flow.postedBytes else { return .overflow(self.flow.overflow, scheduleHop: false) }
        if !self.isWritable, self.transportBytes + waiting > self.flow.postedBytes {
            self.needsLimitCheck = true
            switch self.flow.overflow {
            case .drop: return .overflow(.drop, scheduleHop: self.needsHop())
            case .close: break  // the event loop checks the current size before it closes the connection
            }
        }
        self.append(.message(message))
        return .queued(scheduleHop: self.needsHop())
    }

    /// Cancels a sender. Returns whether the sender was waiting; its message is then not sent.
    mutating func cancelled(sender: Int) -> Bool {
        guard let index = self.senders.firstIndex(where: { $0.id == sender }) else { return false }
        self.senders.remove(at: index)
        return true
    }

    /// Returns the items to write when the hop runs on the event loop.
    mutating func hopped() -> [OutboundItem] {
        self.hopIsScheduled = false
        self.bytes = 0
        let items = self.items
        self.items = []
        return items
    }

    /// Returns, once per hop, whether the limit must be checked against the current size of the
    /// transport's buffer.
    mutating func limitCheckIsDue() -> Bool {
        defer { self.needsLimitCheck = false }
        return self.needsLimitCheck
    }

    /// Updates the transport's state. Returns the senders to resume, and whether to schedule a hop.
    ///
    /// - Parameter bytes: The number of bytes in the transport's buffer; ignored while the
    ///   transport is writable.
    mutating func transportBecame(writable isWritable: Bool, holding bytes: Int) -> (senders: [Int], scheduleHop: Bool) {
        guard case .open = self.state else { return ([], false) }
        self.isWritable = isWritable
        self.transportBytes = bytes
        var resumed: [Int] = []
        while self.hasRoom, let sender = self.senders.first, self.openMessage == nil || self.continuesOpenMessage(sender.item) {
            self.senders.removeFirst()
            self.append(sender.item)
            resumed.append(sender.id)
        }
        return (resumed, self.needsHop())
    }

    /// Ends the queue. Returns the waiting senders.
    mutating func ended(_ error: WebSocketError) -> [Int] {
        guard case .open = self.state else { return [] }
        self.state = .ended(error)
        self.items = []
        self.bytes = 0
        defer { self.senders.removeAll() }
        return self.senders.map(\.id)
    }
}

/// An entry of the outbox: a complete message, or a piece of a message.
enum OutboundItem: Hashable, Sendable {
    case message(WebSocketMessage)
    case piece(WebSocketPiece)

    var byteCount: Int {
        switch self {
        case .message(let message): message.payload.readableBytes
        case .piece(let piece): piece.bytes.readableBytes
        }
    }
}

/// A part of a message whose length is not known while it is sent.
struct WebSocketPiece: Hashable, Sendable {
    /// The number of the message that the piece belongs to.
    var message: Int
    var bytes: ByteBuffer
    var kind: WebSocketMessage.Kind
    var isLast: Bool
    var compression: WebSocketCompression
}
