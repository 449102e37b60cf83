import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// A device of a user: a `ClientCore` with a store. The store survives a restart of the program.
final class Device {
    let index: Int
    let user: UserKey
    let name: UserName
    let bug: PlantedBug?
    let agenda: Agenda
    let clock: SimulatedClock
    var core: ClientCore
    var connection: Connection?
    private(set) var isRetired = false

    // The store.
    var heads: [ConversationID: ChatHead] = [:]
    /// The keys of `heads`, in order.
    var conversations: [ConversationID] = []
    var logs: [ConversationID: DeviceLog] = [:]
    /// The positions that the core reported as gaps.
    var gaps: [ConversationID: [ClosedRange<Int64>]] = [:]
    var outbox: [Unsent] = []
    /// The acknowledged messages that the log does not contain.
    var sent: [Unsent] = []
    /// The read positions that the server has not confirmed.
    var reads: [ConversationID: Int64] = [:]
    var epoch: PageToken?
    var token: PageToken?
    /// The unanswered changes other than new messages.
    var changes: [Change] = []

    /// The ids of the messages that the user scheduled.
    var scheduled: [ClientID] = []

    // The answers that the device has received.
    var acknowledged: [Acknowledged] = []
    var refused: [ClientID: ChatError.Code] = [:]

    struct Unsent {
        let id: ClientID
        /// The number that the text of the message contains.
        let number: Int
        let conversation: ConversationID
        let command: Command
    }

    struct Acknowledged {
        let id: ClientID
        let number: Int
        let command: Command
        let answer: SendAnswer
    }

    struct Change {
        let id: ClientID
        let command: Command
        /// The messages to forward; nil for other changes.
        var originals: Originals?

        var request: Request {
            self.originals.map { .forward(self.command, $0, self.id) } ?? .command(self.command, .change(self.id))
        }
    }

    /// The settings with small windows and pages, so that short logs require paging.
    static let settings: FollowSettings = {
        var settings = FollowSettings()
        settings.pageLimit = 20
        settings.windowLimit = 24
        settings.maximumCatchUp = 60
        settings.maximumHeld = 8
        return settings
    }()

    init(index: Int, user: UserKey, name: UserName, bug: PlantedBug?, agenda: Agenda, clock: SimulatedClock) {
        self.index = index
        self.user = user
        self.name = name
        self.bug = bug
        self.agenda = agenda
        self.clock = clock
        self.core = ClientCore(user: name, settings: Self.settings)
    }

    // MARK: Connection

    func connected(_ connection: Connection) {
        self.connection = connection
        self.carryOut(self.core.connected())
        for change in self.changes { connection.up.append(change.request) }
    }

    func disconnected() {
        self.connection?.isOpenAtDevice = false
        self.connection = nil
        self.core.disconnected()
    }

    /// Ends the device permanently, because the account of its user was deleted.
    func retire() {
        self.isRetired = true
        self.connection?.drop()
        self.disconnected()
    }

    /// Removes the messages that have expired by the clock of the device.
    func expire() { self.carryOut(self.core.expire(at: self.clock.device)) }

    /// Restarts the program from its store.
    func restart() {
        self.disconnected()
        self.core = ClientCore(user: self.name, settings: Self.settings)
        var restored = ClientCore.Restored()
        restored.heads = self.conversations.compactMap { self.heads[$0] }
        restored.cursors = self.logs.compactMapValues { $0.count == 0 ? nil : $0.last }
        restored.unsent = (self.sent + self.outbox).sorted { $0.number < $1.number }.map { ($0.id, $0.conversation, false) }
        restored.acknowledged = Set(self.sent.map(\.id))
        if self.bug == .outboxReversed { restored.unsent.reverse() }
        restored.reads = self.reads
        restored.epoch = self.epoch
        restored.token = self.token
        self.core.restore(restored)
        self.expire()
    }

    // MARK: The user

    func write(_ message: Unsent) {
        self.outbox.append(message)
        self.carryOut(self.core.enqueued(message.id, in: message.conversation))
    }

    /// Shows a conversation. The device follows its log from now on.
    func open(_ conversation: ConversationID) { self.carryOut(self.core.opened(conversation)) }

    func read(_ n: Int64, in conversation: ConversationID) { self.carryOut(self.core.read(n, in: conversation)) }

    /// Requests a change. If the answer is lost, the device repeats the request.
    func request(_ change: Change) {
        self.changes.append(change)
        self.connection?.up.append(change.request)
    }

    /// Requests the newest part of the log that the store lacks.
    ///
    /// - Returns: Whether a part is missing.
    func scroll(_ conversation: ConversationID) -> Bool {
        guard let head = self.heads[conversation], self.follows(head), let missing = self.logs[conversation]?.lastMissing(from: head.minSeq)
        else { return false }
        let request = HistoryRequest(conversation: conversation, range: .before(missing + 1))
        self.connection?.up.append(.history(request, isScroll: true))
        return true
    }

    func follows(_ head: ChatHead) -> Bool { head.state == .joined || head.state == .left || head.state == .removed }

    func fired(_ timer: ClientTimer, of connection: SocketKey) {
        guard self.connection?.key == connection else { return }
        self.carryOut(self.core.timerFired(timer))
    }
}
