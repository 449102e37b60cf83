import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

extension DecidedBatch {
    /// Returns the conversations whose heads changed for reasons other than new messages: the
    /// title, the settings, the members, the pinned messages, or removed content of the preview.
    /// Omits conversations with more than `members` members; clients receive these heads with the
    /// next sync.
    func changedHeads(upTo members: Int) -> [ConversationKey] {
        var keys = Set(self.changes.conversations.lazy.filter { $0.row != nil && !$0.isNew }.map(\.key))
        for event in self.changes.events where event.changesHead { keys.insert(event.conversation) }
        // The log contains no event for the expiry of content.
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
