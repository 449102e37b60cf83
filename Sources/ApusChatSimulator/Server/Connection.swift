import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import DequeModule

/// A connection as a stream of both sides. It keeps order and loses nothing while it lives; what is
/// on its way when it ends may be lost.
final class Connection {
    let key: SocketKey
    let device: Int
    let user: UserKey
    /// Requests that have not arrived at the server.
    var up = Deque<Request>()
    /// Messages that have not arrived at the device.
    var down = Deque<Message>()
    var isOpenAtServer = true
    var isOpenAtDevice = true
    /// Whether nothing passes for some time, which neither side notices.
    var isCut = false
    var frames = CoalescedHeads()
    /// The heads to be sent complete in the next frame. Others are sent as nudges.
    var wholeHeads: Set<ConversationKey> = []

    init(key: SocketKey, device: Int, user: UserKey) {
        self.key = key
        self.device = device
        self.user = user
    }

    var hasTraffic: Bool { !self.isCut && (!self.up.isEmpty || !self.down.isEmpty || self.isOpenAtServer != self.isOpenAtDevice) }
}

/// What a device sends.
enum Request: Sendable {
    case hello(since: PageToken?, epoch: PageToken?)
    case sync(SyncRequest)
    /// - Parameter isScroll: Whether the shell asked for it, to fill the history, and not the core.
    case history(HistoryRequest, isScroll: Bool)
    case command(Command, Purpose)
}

/// What a command was for, so that its answer finds the way back.
enum Purpose: Sendable {
    case send(ClientID)
    case mark(MarkRequest)
    case change(ClientID)
}

/// What the server sends.
enum Message {
    case hello(HelloAnswer)
    case helloRefused(ChatError)
    case sync(SyncAnswer)
    case syncRefused(ChatError)
    case history(HistoryAnswer, HistoryRequest, isScroll: Bool)
    case historyRefused(ChatError, HistoryRequest, isScroll: Bool)
    case answered(StoredAnswer, Purpose)
    case marked(MarkAnswer)
    case refused(ChatError, Purpose)
    case events(EventPush)
    case heads(HeadPush)
    case marks(MarkPush)
}
