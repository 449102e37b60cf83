import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import DequeModule

/// A connection between a device and the server. It delivers messages in order, and without loss
/// while it is open. When it ends, messages in transit can be lost.
final class Connection {
    let key: SocketKey
    let device: Int
    let user: UserKey
    /// The requests that have not arrived at the server.
    var up = Deque<Request>()
    /// The messages that have not arrived at the device.
    private(set) var down = Deque<Message>()
    var isOpenAtServer = true
    var isOpenAtDevice = true
    /// Whether the connection transfers no data for some time, without a notification to either
    /// side.
    var isCut = false
    /// Whether the device sends but does not read for some time.
    var isSlow = false
    var frames = CoalescedHeads()

    // The state of the connection in the server.
    var window = SendWindow()
    private var sent = 0
    private var taken = 0
    /// The number of messages that the device must take before the window is notified; nil if no
    /// notification is requested.
    private var question: Int?
    /// The number of bytes of pushes that the device has not taken.
    private(set) var untaken = 0
    /// The positions that must be sent to the device after a stall.
    var stall = Stall()

    init(key: SocketKey, device: Int, user: UserKey) {
        self.key = key
        self.device = device
        self.user = user
    }

    var hasTraffic: Bool {
        if self.isCut { return false }
        if !self.up.isEmpty || self.isOpenAtServer && !self.isOpenAtDevice { return true }
        return !self.isSlow && (!self.down.isEmpty || self.isOpenAtDevice && !self.isOpenAtServer)
    }

    func send(_ message: Message) {
        self.sent += 1
        self.untaken += message.pushedBytes
        self.down.append(message)
    }

    /// Sends a message so that it arrives before the last one in transit.
    func sendEarly(_ message: Message) {
        let last = self.down.popLast()
        self.send(message)
        if let last { self.down.append(last) }
    }

    /// Removes and returns the next message in transit to the device; nil if there is no such
    /// message.
    func take() -> Message? {
        guard let message = self.down.popFirst() else { return nil }
        self.taken += 1
        self.untaken -= message.pushedBytes
        return message
    }

    /// Discards all messages in transit to the device.
    func drop() {
        self.down.removeAll()
        self.untaken = 0
    }

    func ask() { self.question = self.sent }

    /// Returns whether the device has taken all messages that were sent before ``ask()``. Returns
    /// true at most once for each call of ``ask()``.
    func isAnswered() -> Bool {
        guard let question = self.question, self.taken >= question else { return false }
        self.question = nil
        return true
    }
}

/// The positions that a device must receive after a stall, as determined by the oracle.
struct Stall {
    /// The last `seq` of each log when the connection stalled.
    var ends: [ConversationKey: Int64] = [:]
    /// The number of the batch in which the connection stalled.
    var batch = -1
    /// The conversations whose new positions have not been sent yet.
    var owed: Set<ConversationKey> = []
    /// The time by which the positions must be sent.
    var due: Int64 = 0
}

/// A request of a device.
enum Request: Sendable {
    case hello(since: PageToken?, epoch: PageToken?)
    case sync(SyncRequest)
    /// Requests a part of a log.
    ///
    /// - Parameter isScroll: Whether the shell requested the page to fill a gap of the history;
    ///   false if the core requested the page.
    case history(HistoryRequest, isScroll: Bool)
    indirect case command(Command, Purpose)
    /// Forwards messages. The server reads them when the request arrives.
    indirect case forward(Command, Originals, ClientID)
}

/// The messages of a forward.
struct Originals: Sendable {
    let conversation: ConversationKey
    let seqs: [Int64]
}

/// The purpose of a command, which determines the recipient of its answer.
enum Purpose: Sendable {
    case send(ClientID)
    case mark(MarkRequest)
    case change(ClientID)
}

/// A message from the server.
enum Message {
    indirect case hello(HelloAnswer)
    indirect case helloRefused(ChatError)
    indirect case sync(SyncAnswer)
    indirect case syncRefused(ChatError)
    indirect case history(HistoryAnswer, HistoryRequest, isScroll: Bool)
    indirect case historyRefused(ChatError, HistoryRequest, isScroll: Bool)
    indirect case answered(StoredAnswer, Purpose)
    indirect case marked(MarkAnswer)
    indirect case refused(ChatError, Purpose)
    case events(EventPush)
    indirect case heads(HeadPush)
    case marks(MarkPush)

    /// The number of bytes of a push, as the `SendWindow` counts them. Each event counts as 32 KiB,
    /// so that few events stall a connection.
    var pushedBytes: Int {
        switch self {
        case .events(let push): (32 << 10) * push.events.count
        case .heads, .marks: 200
        default: 0
        }
    }
}
