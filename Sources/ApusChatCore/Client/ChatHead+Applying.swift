import ApusChatProtocol
import ApusJSON

// Applies events to a head until the server sends the next head, which happens at most once a
// second on each connection.
extension ChatHead {
    /// Applies an event that is later than the head.
    mutating func apply(_ event: ChatEvent) {
        guard [.pin, .conversationSet, .callUpdate].contains(event.kind.code) else { return }
        switch ChatChange(event) {
        case .pin(let body)?:
            guard let seq = event.ref else { return }
            self.pins.removeAll { $0 == seq }
            // The pinned messages are in descending order, as on the server.
            if !body.isRemoval { self.pins.insert(seq, at: self.pins.firstIndex { $0 < seq } ?? self.pins.count) }
        case .conversationSet(let body)?:
            self.title = body.title ?? self.title
            if let avatar = body.avatar { self.avatar = avatar.blob }
        case .callUpdate(let body)?:
            guard self.last?.kind == .call, self.last?.seq == event.ref else { return }
            self.last?.call = body.state
            self.last?.duration = body.duration
        default: return
        }
    }
}

extension OwnSettings {
    mutating func apply(_ body: OwnSetBody) {
        if let pinnedAt = body.pinnedAt { self.pinnedAt = pinnedAt > 0 ? pinnedAt : nil }
        self.isArchived = body.isArchived ?? self.isArchived
        if let mutedUntil = body.mutedUntil { self.mutedUntil = mutedUntil > 0 ? mutedUntil : nil }
        self.notify = body.notify ?? self.notify
        self.isMarkedUnread = body.isMarkedUnread ?? self.isMarkedUnread
        self.folders = body.folders ?? self.folders
    }
}

extension ChatEvent {
    /// Returns whether the event moves its conversation up in lists and is shown as the preview, as
    /// on the server.
    ///
    /// These events are messages, the creation of the conversation, changes of its profile and
    /// settings, and the invitation, the join, the leave and the removal of members. Other changes,
    /// such as those of roles, bans and messages, do not move the conversation.
    ///
    /// - Parameter kind: The kind of the conversation.
    func movesUp(in kind: ConversationKind) -> Bool {
        if self.n != nil { return true }
        switch self.kind.code {
        case .conversationCreate, .conversationSet, .memberInvite, .memberLeave, .memberRemove: return true
        // The join of a user moves a channel up only if another member added the user.
        case .memberJoin: return kind != .channel || self.body["via"]?.stringValue == "add"
        default: return false
        }
    }
}
