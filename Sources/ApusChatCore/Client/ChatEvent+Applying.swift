package import ApusChatProtocol
import ApusJSON

extension ChatEvent {
    /// Returns this event after a change, in the same way as the server applies the change. An
    /// edit, a reaction or another change affects the message that it refers to. A recall also
    /// affects the edits and previews of that message. A reply affects the message that began its
    /// thread. Unknown kinds and invalid bodies have no effect.
    package func applying(_ change: ChatEvent) -> ChatEvent {
        if change.kind.isMessage { return self.counting(reply: change) }
        guard change.conversation == self.conversation, change.ref == self.seq || self.isRepetition(ofTargetOf: change),
            !change.kind.isMessage,
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
        case .preview:
            guard self.kind == .text, let change = try? PreviewBody(json: .object(change.body)) else { return self }
            event.body["preview"] = change.preview?.json
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
            // A vote contains the totals of its poll, because earlier votes may not be known here.
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

    /// Returns this event with a further reply in its thread. A reply whose content was removed is
    /// also counted.
    private func counting(reply: ChatEvent) -> ChatEvent {
        guard reply.thread == self.seq, reply.conversation == self.conversation, self.kind.isMessage else { return self }
        var event = self
        event.replies = ThreadSummary(count: (self.replies?.count ?? 0) + 1, seq: max(self.replies?.seq ?? 0, reply.seq))
        return event
    }

    /// Returns whether this event repeats the content of the message that a recall removes.
    private func isRepetition(ofTargetOf recall: ChatEvent) -> Bool {
        recall.kind == .recall && self.kind.repeatsContent && self.ref == recall.ref
    }

    private mutating func count(_ reaction: ReactBody) {
        if let index = self.reactions.firstIndex(where: { $0.key == reaction.key }) {
            self.reactions[index].count += reaction.isRemoval ? -1 : 1
            if self.reactions[index].count <= 0 { self.reactions.remove(at: index) }
        } else if !reaction.isRemoval {
            self.reactions.append(ReactionCount(key: reaction.key, count: 1))
        }
    }
}
