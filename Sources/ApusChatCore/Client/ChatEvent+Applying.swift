package import ApusChatProtocol
import ApusJSON

extension ChatEvent {
    /// Returns this event after a change, as the server also applies it. A change concerns the
    /// message that it refers to; a recall also the edits of that message; a reply in a thread the
    /// message that began it. Unknown kinds and malformed bodies have no effect.
    package func applying(_ change: ChatEvent) -> ChatEvent {
        if change.kind.isMessage { return self.counting(reply: change) }
        guard change.conversation == self.conversation, change.ref == self.seq || self.isEdit(ofTargetOf: change), !change.kind.isMessage,
            !self.state.isBlank
        else {
            return self
        }
        var event = self
        switch change.kind.code {
        case .edit:
            guard let edit = try? EditBody(json: .object(change.body)) else { return self }
            event.body = edit.body
            event.state = .edited
            event.editedAt = change.at
        case .recall:
            event.state = .recalled
            event.body = [:]
            event.reactions = []
            event.votes = []
            event.expiresAt = nil
        case .react:
            guard let reaction = try? ReactBody(json: .object(change.body)) else { return self }
            event.count(reaction)
        case .vote:
            // The totals travel with the change: the votes before it may not be known here.
            guard change.votes.count == self.votes.count else { return self }
            event.votes = change.votes
        case .pollClose:
            event.body["closed"] = true
        case .callUpdate:
            guard let update = try? CallUpdateBody(json: .object(change.body)) else { return self }
            event.body["state"] = .string(update.state.rawValue)
            if let duration = update.duration { event.body["duration"] = .integer(duration) }
        default:
            return self
        }
        return event
    }

    /// Returns this event after a reply in its thread. A message that was removed still counts.
    private func counting(reply: ChatEvent) -> ChatEvent {
        guard reply.thread == self.seq, reply.conversation == self.conversation, self.kind.isMessage else { return self }
        var event = self
        event.replies = ThreadSummary(count: (self.replies?.count ?? 0) + 1, seq: max(self.replies?.seq ?? 0, reply.seq))
        return event
    }

    /// Whether this is an edit of the message that a recall removes: it repeats the text.
    private func isEdit(ofTargetOf recall: ChatEvent) -> Bool { recall.kind == .recall && self.kind == .edit && self.ref == recall.ref }

    private mutating func count(_ reaction: ReactBody) {
        if let index = self.reactions.firstIndex(where: { $0.key == reaction.key }) {
            self.reactions[index].count += reaction.isRemoval ? -1 : 1
            if self.reactions[index].count <= 0 { self.reactions.remove(at: index) }
        } else if !reaction.isRemoval {
            self.reactions.append(ReactionCount(key: reaction.key, count: 1))
        }
    }
}
