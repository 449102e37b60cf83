package import ApusChatProtocol
import ApusJSON

extension ChatEvent {
    /// Returns this event without its content if it has expired.
    ///
    /// The server removes the content of expired events without a notification, so each client
    /// removes it independently.
    package func expired(at now: Int64) -> ChatEvent {
        guard let expiresAt, expiresAt <= now, !self.state.isBlank else { return self }
        return self.withoutContent
    }

    /// Returns this event without its content if it repeats the content of an expired message, as
    /// an edit and a preview do.
    package func expired(with message: Int64) -> ChatEvent {
        self.kind.repeatsContent && self.ref == message && !self.state.isBlank ? self.withoutContent : self
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
    /// The time at which the preview of the newest message expires, in milliseconds since 1970; nil
    /// if it does not expire. Assumes that the current setting applied when the message was sent.
    var previewExpiry: Int64? {
        guard let seconds = self.settings?.expire, seconds > 0, let last = self.last, last.n != nil, !last.state.isBlank else { return nil }
        return last.at + seconds * 1_000
    }

    /// Returns this head without the text of its preview if the preview has expired.
    package func expired(at now: Int64) -> ChatHead {
        guard let time = self.previewExpiry, time <= now else { return self }
        var head = self
        head.last?.state = .expired
        head.last?.text = nil
        return head
    }
}

// Expiring messages.
extension ClientCore {
    /// The earliest time at which a preview expires, in milliseconds since 1970; nil if no preview
    /// expires.
    package var nextPreviewExpiry: Int64? { self.heads.values.compactMap(\.previewExpiry).min() }

    /// Removes expired messages from the store, and their previews from the heads.
    ///
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
