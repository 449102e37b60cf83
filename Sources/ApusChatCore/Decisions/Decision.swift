package import ApusChatProtocol
package import ApusChatStorage

/// The answer to one command. It may be told after the commit of its batch, not before.
package enum Decision: Sendable, Equatable {
    /// The command takes effect with the batch.
    case accepted(StoredAnswer)
    /// The same request was answered before: its first answer again, without an effect.
    case repeated(StoredAnswer)
    /// The command has no effect. The other commands of the batch are not concerned.
    case refused(ChatError)
}

/// The notifications of a batch, sent after its acks.
package enum Push: Sendable, Equatable {
    /// New events of a conversation, in the order of their seq, to its audience. Each recipient
    /// gets what its `MemberView` shows.
    case events(ConversationKey, first: Int64, last: Int64)
    /// A user's head of a conversation changed: to the devices of that user.
    case head(ConversationKey, of: UserKey)
    /// A read position moved: to the other members, coalesced.
    case read(ConversationKey, by: UserKey, n: Int64)
    /// A user belongs to the audience of a conversation from an event on.
    case arrived(ConversationKey, UserKey, first: Int64)
    /// A user belongs to the audience of a conversation up to an event.
    case departed(ConversationKey, UserKey, last: Int64)
    /// A contact or the profile of `subject` changed for a user.
    case user(UserKey, subject: UserKey)
}

/// Everything that a batch writes, and everything that it says.
package struct DecidedBatch: Sendable {
    package var changes: Changes
    package var pushes: [Push]
    /// Messages that are hidden from single members, so that a push shows them as `hidden`.
    package var hidden: [AnnotationAddress]
    /// Messages that cause no notification.
    package var silent: Set<EventAddress>
    /// Conversations whose events are not pushed but requested, because too many members do not see
    /// one of them.
    package var nudged: Set<ConversationKey>
    /// Conversations that their owners deleted: gone for all members.
    package var deleted: [ConversationKey]

    package init(
        changes: Changes, pushes: [Push], hidden: [AnnotationAddress], silent: Set<EventAddress> = [], nudged: Set<ConversationKey> = [],
        deleted: [ConversationKey] = []
    ) {
        self.changes = changes
        self.pushes = pushes
        self.hidden = hidden
        self.silent = silent
        self.nudged = nudged
        self.deleted = deleted
    }
}
