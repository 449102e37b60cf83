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
        indirect case ended(WebSocketError)
    }

    private let flow: WebSocketFlowControl
    private var state = State.open
    private var isWritable = true
    private var parcels: [OutboundItem] = []
    private var bytes = 0
    /// The message of which pieces were queued, and the last was not. No other sender's message may stand between them.
    private var openMessage: Int?
    /// What the transport held when the event loop last looked. Counted while it is not writable only: below its watermark nobody is told
    /// when it gets less.
    private var transportBytes = 0
    /// Something was posted, or refused, on the strength of that number, which may be out of date: the event loop must look.
    private var isOnCredit = false
    private var hopIsScheduled = false
    private var senders = Deque<(id: Int, item: OutboundItem)>()

    init(flow: WebSocketFlowControl) {
        self.flow = flow
    }

    private var hasRoom: Bool { self.isWritable && self.bytes < Self.watermark }

    /// Whether something waits for the hop.
    var isWaiting: Bool { !self.parcels.isEmpty }

    private mutating func append(_ item: OutboundItem) {
        if case .piece(let piece) = item { self.openMessage = piece.isLast ? nil : piece.message }
        self.parcels.append(item)
        self.bytes += item.byteCount + 16  // an empty message takes room as well
    }

    /// Whether a parcel goes on with the message that is under way.
    private func continuesOpenMessage(_ item: OutboundItem) -> Bool {
        if case .piece(let piece) = item { piece.message == self.openMessage } else { false }
    }

    /// Whether a hop must be scheduled; says so once.
    private mutating func needsHop() -> Bool {
        guard !self.hopIsScheduled, self.isWaiting || self.isOnCredit else { return false }
        self.hopIsScheduled = true
        return true
    }

    enum SendAction: Equatable {
        case queued(scheduleHop: Bool)
        case wait
        case refuse(WebSocketError)
    }

    /// Somebody sends, and may wait.
    mutating func send(_ item: OutboundItem, sender: Int) -> SendAction {
        if case .ended(let error) = self.state { return .refuse(error) }
        let goesOn = self.continuesOpenMessage(item)
        guard self.hasRoom, goesOn || (self.senders.isEmpty && self.openMessage == nil) else {
            if goesOn { self.senders.prepend((sender, item)) } else { self.senders.append((sender, item)) }
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

    /// Somebody sends from outside of the event loop, and will not wait.
    mutating func post(_ message: WebSocketMessage) -> PostAction {
        guard case .open = self.state else { return .refuse }
        let waiting = self.bytes + message.payload.readableBytes
        guard waiting <= self.flow.postedBytes else { return .overflow(self.flow.overflow, scheduleHop: false) }
        if !self.isWritable, self.transportBytes + waiting > self.flow.postedBytes {
            self.isOnCredit = true
            switch self.flow.overflow {
            case .drop: return .overflow(.drop, scheduleHop: self.needsHop())
            case .close: break  // not for an old number: the hop asks for the present one, and closes
            }
        }
        self.append(.message(message))
        return .queued(scheduleHop: self.needsHop())
    }

    /// A sender's task was cancelled. `true`: it waited, its message is not sent.
    mutating func cancelled(sender: Int) -> Bool {
        guard let index = self.senders.firstIndex(where: { $0.id == sender }) else { return false }
        self.senders.remove(at: index)
        return true
    }

    /// The hop has come to the event loop: these are to be written now.
    mutating func hopped() -> [OutboundItem] {
        self.hopIsScheduled = false
        self.bytes = 0
        let parcels = self.parcels
        self.parcels = []
        return parcels
    }

    /// Asked once for every hop: whether the bound must be held against what the transport holds now.
    mutating func creditIsDue() -> Bool {
        defer { self.isOnCredit = false }
        return self.isOnCredit
    }

    /// What was taken is written, or the transport's buffer crossed a watermark. Answers the senders that wait no longer.
    ///
    /// - Parameter bytes: What the transport holds; of no interest while it is writable.
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

    /// Nothing is sent any more. Answers the senders that waited.
    mutating func ended(_ error: WebSocketError) -> [Int] {
        guard case .open = self.state else { return [] }
        self.state = .ended(error)
        self.parcels = []
        self.bytes = 0
        defer { self.senders.removeAll() }
        return self.senders.map(\.id)
    }
}
