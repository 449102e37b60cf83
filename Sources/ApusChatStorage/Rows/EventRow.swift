package import ApusChatProtocol

/// One entry in the log of a conversation.
///
/// `seq` counts all events from 1 without a gap; `n` counts messages only. A change (an edit, a
/// recall, a join) has no `n`. If it changes another event, its `ref` is the `seq` of that event.
package struct EventRow: Sendable, Equatable {
    package var conversation: ConversationKey
    package var seq: Int64
    /// The ordinal of a message; 0 for a change.
    package var n: Int64
    package var sender: UserKey
    /// The id that the client chose, which identifies a retry of `send`. Nil for events other than
    /// sent and scheduled messages.
    package var clientID: ClientID?
    package var hash: RequestHash?
    /// The time at which the server added the event, in milliseconds since 1970.
    package var at: Int64
    package var kind: EventKind
    /// The `seq` of the event that this one replies to or changes; 0 for other events.
    package var ref: Int64
    /// The `seq` of the message that began the thread of this reply; 0 outside of threads.
    package var thread: Int64
    /// The body as JSON text, as it is sent; empty if the event has no body or the body was
    /// removed.
    package var body: String
    package var state: EventState
    /// The body before the first edit. It is empty if the event was not edited.
    package var original = ""
    /// The time of the last edit or, for a call, of the last change of its state, in milliseconds
    /// since 1970; 0 if nothing was changed.
    package var editedAt: Int64
    /// The `seq` of the change that set `editedAt`; 0 if nothing was changed.
    package var editSeq: Int64 = 0
    /// The time at which the message expires, in milliseconds since 1970; 0 if it does not expire.
    package var expiresAt: Int64
    /// The members mentioned in the message.
    package var mentions: [UserKey]
    package var mentionsAll: Bool
    package var isPinned: Bool
    /// The reactions with their numbers, in the order in which each was first used.
    package var reactions: [ReactionCount]
    /// The number of votes for each option of a poll. For an event of kind `vote`, the numbers of
    /// its poll after the vote.
    package var votes: [Int64]
    /// Whether a user can vote for several options of the poll.
    package var allowsManyVotes = false
    /// Whether `vote` events omit the chosen options.
    package var hidesVoters = false
    /// Whether a poll has ended.
    package var isClosed = false
    /// The time at which a poll ends, in milliseconds since 1970; 0 for no end.
    package var closesAt: Int64 = 0
    /// The number of replies in the thread that this message began.
    package var replyCount: Int64 = 0
    /// The `seq` of the newest reply in the thread that this message began; 0 without a reply.
    package var lastReply: Int64 = 0

    package init(
        conversation: ConversationKey, seq: Int64, n: Int64, sender: UserKey, clientID: ClientID? = nil, hash: RequestHash? = nil,
        at: Int64, kind: EventKind, ref: Int64 = 0, thread: Int64 = 0, body: String = "", expiresAt: Int64 = 0, mentions: [UserKey] = [],
        mentionsAll: Bool = false
    ) {
        self.conversation = conversation
        self.seq = seq
        self.n = n
        self.sender = sender
        self.clientID = clientID
        self.hash = hash
        self.at = at
        self.kind = kind
        self.ref = ref
        self.thread = thread
        self.body = body
        self.state = .normal
        self.editedAt = 0
        self.expiresAt = expiresAt
        self.mentions = mentions
        self.mentionsAll = mentionsAll
        self.isPinned = false
        self.reactions = []
        self.votes = []
    }

    package var address: EventAddress { EventAddress(self.conversation, self.seq) }
    /// Whether the event is a message, which has an ordinal.
    package var isMessage: Bool { self.n > 0 }

    /// The event with its body before the first edit.
    package var firstForm: EventRow {
        guard !self.original.isEmpty, !self.state.isBlank else { return self }
        var event = self
        (event.body, event.state, event.editedAt, event.editSeq) = (self.original, .normal, 0, 0)
        return event
    }

    /// Removes the content. The event retains its position in the log.
    package mutating func blank(_ state: EventState) {
        self.state = state
        self.body = ""
        self.original = ""
        self.expiresAt = 0
        self.closesAt = 0
        self.mentions = []
        self.mentionsAll = false
        self.isPinned = false
        self.reactions = []
        self.votes = []
    }
}

/// One user's annotations of one event: reactions, votes, and whether it is hidden.
///
/// An event that is hidden from a user, by a block or by "delete for me", is sent to that user
/// without sender and body, so that the log has no gap.
package struct AnnotationRow: Sendable, Equatable {
    package var address: AnnotationAddress
    /// The ordinal of the event, so that a count of messages needs no lookup of the event.
    package var n: Int64
    package var isHidden = false
    package var reactions: [String] = []
    /// The chosen options of a poll, one bit for each option.
    package var votes: UInt64 = 0

    package init(address: AnnotationAddress, n: Int64) {
        self.address = address
        self.n = n
    }

    package var isEmpty: Bool { !self.isHidden && self.reactions.isEmpty && self.votes == 0 }
}
