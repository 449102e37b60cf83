import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension DecidedBatch {
    /// The conversations whose heads changed otherwise than by new messages: title, settings,
    /// members, pins, or because the content of the preview is gone. Those of large conversations
    /// are told by the next sync.
    func changedHeads(upTo members: Int) -> [ConversationKey] {
        var keys = Set(self.changes.conversations.lazy.filter { $0.row != nil && !$0.isNew }.map(\.key))
        for event in self.changes.events where event.changesHead { keys.insert(event.conversation) }
        // No event tells the end of content whose time is over.
        let previews = Set(self.changes.conversations.lazy.map { EventAddress($0.key, $0.counters.previewSeq) })
        for blank in self.changes.blanks where blank.state != .recalled && previews.contains(blank.address) {
            keys.insert(blank.address.conversation)
        }
        let large = self.changes.conversations.lazy.filter { $0.counters.memberCount > members }.map(\.key)
        return keys.subtracting(large).sorted()
    }
}

extension EventRow {
    fileprivate var changesHead: Bool {
        switch self.kind.code {
        case .pin, .conversationSet, .memberJoin, .memberLeave, .memberRemove, .memberBan, .memberRole: true
        default: false
        }
    }
}
