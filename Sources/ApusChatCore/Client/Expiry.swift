package import ApusChatProtocol
import ApusJSON

extension ChatEvent {
    /// Returns this event as it is after its time: without content, if the time is over.
    ///
    /// The server does the same to its copy, but does not tell it: a client that has the message
    /// removes it by itself.
    package func expired(at now: Int64) -> ChatEvent {
        guard let expiresAt, expiresAt <= now, !self.state.isBlank else { return self }
        return self.withoutContent
    }

    /// Returns this event as it is after the time of the message that it refers to: an edit repeats
    /// the text.
    package func expired(with message: Int64) -> ChatEvent {
        self.kind == .edit && self.ref == message && !self.state.isBlank ? self.withoutContent : self
    }

    private var withoutContent: ChatEvent {
        var event = self
        event.state = .expired
        event.body = [:]
        event.reactions = []
        event.votes = []
        event.expiresAt = nil
        return event
    }
}

extension ChatHead {
    /// The time at which the preview of the newest message disappears; nil for never. A preview is
    /// of the newest event, so the present setting was that of its message.
    var previewExpiry: Int64? {
        guard let seconds = self.settings?.expire, seconds > 0, let last = self.last, last.n != nil, !last.state.isBlank else { return nil }
        return last.at + seconds * 1_000
    }

    /// Returns this head without the text of a preview whose time is over.
    package func expired(at now: Int64) -> ChatHead {
        guard let time = self.previewExpiry, time <= now else { return self }
        var head = self
        head.last?.state = .expired
        head.last?.text = nil
        return head
    }
}

// Messages that disappear.
extension ClientCore {
    /// The time of the first preview that disappears; nil if none does.
    package var nextPreviewExpiry: Int64? { self.heads.values.compactMap(\.previewExpiry).min() }

    /// Removes the messages whose time is over from the store and from the list.
    /// - Parameter now: The time, in milliseconds since 1970.
    package mutating func expire(at now: Int64) -> [ClientAction] {
        var actions: [ClientAction] = [.store(.expire(at: now))]
        for head in self.heads.values {
            guard let time = head.previewExpiry, time <= now else { continue }
            let expired = head.expired(at: now)
            self.heads[head.conversation] = expired
            actions.append(.store(.head(expired)))
        }
        return actions
    }
}
