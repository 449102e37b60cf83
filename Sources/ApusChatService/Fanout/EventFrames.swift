import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

/// Encodes the events of a batch as pushes.
struct EventFrames {
    /// The maximum total size of the bodies in one push, in bytes. Further events are sent in
    /// another push.
    private static let splitBytes = 128 * 1024

    private var rows: [ConversationKey: [EventRow]] = [:]
    private var blanks: [EventAddress: EventState] = [:]
    private let hidden: Set<AnnotationAddress>
    private let silent: Set<EventAddress>

    init(_ batch: DecidedBatch) {
        for row in batch.changes.events { self.rows[row.conversation, default: []].append(row) }
        for blank in batch.changes.blanks { self.blanks[blank.address] = blank.state }
        self.hidden = Set(batch.hidden)
        self.silent = batch.silent
    }

    func senders(_ key: ConversationKey) -> Set<UserKey> { Set(self.rows[key]?.map(\.sender) ?? []) }

    /// Returns a nudge, with a preview if the newest message of the conversation is part of the
    /// batch.
    func nudge(_ change: ConversationChange, names: [UserKey: UserName]) -> HeadNudge {
        let counters = change.counters
        let row = self.rows[change.key]?.last { $0.seq == counters.previewSeq }
        return HeadNudge(
            conversation: ConversationID(change.key), seq: counters.lastSeq, n: counters.lastN, at: counters.lastAt,
            last: row.map { ChatKinds.preview(of: self.event($0, for: nil, names: names)) })
    }

    /// Returns the pushes of events, in order.
    ///
    /// - Parameter user: The recipient, if some events are hidden from this user; nil for all other
    ///   recipients.
    func frames(of key: ConversationKey, _ range: ClosedRange<Int64>, for user: UserKey? = nil, names: [UserKey: UserName]) -> [Frame] {
        var frames: [Frame] = []
        var events: [ChatEvent] = []
        var bytes = 0
        var isSilent = false
        // The rows already contain all changes of the batch.
        let last = self.rows[key]?.last?.seq ?? 0
        func flush() {
            let asOf = last > events.last?.seq ?? 0 ? last : nil
            if !events.isEmpty, let frame = Frame(ChatPushes.event, EventPush(events: events, isSilent: isSilent, asOf: asOf)) {
                frames.append(frame)
            }
            events.removeAll(keepingCapacity: true)
            bytes = 0
        }
        for row in self.rows[key] ?? [] where range.contains(row.seq) {
            // Silent messages and other messages are in separate pushes, because a push is silent
            // as a whole.
            let isSilentRow = self.silent.contains(row.address)
            if bytes + row.body.utf8.count > Self.splitBytes || events.count == ChatLimits.historyEvents || isSilentRow != isSilent {
                flush()
            }
            isSilent = isSilentRow
            bytes += row.body.utf8.count
            events.append(self.event(row, for: user, names: names))
        }
        flush()
        return frames
    }

    private func event(_ row: EventRow, for user: UserKey?, names: [UserKey: UserName]) -> ChatEvent {
        if let user, self.isHidden(row, from: user) {
            return .hidden(conversation: ConversationID(row.conversation), seq: row.seq, n: row.n > 0 ? row.n : nil)
        }
        var row = row
        if let state = self.blanks[row.address] { row.blank(state) }
        return ChatEvent(row, names: names)
    }

    private func isHidden(_ row: EventRow, from user: UserKey) -> Bool {
        if self.hidden.contains(AnnotationAddress(row.address, user)) { return true }
        return !row.isMessage && row.ref > 0 && self.hidden.contains(AnnotationAddress(EventAddress(row.conversation, row.ref), user))
    }
}
