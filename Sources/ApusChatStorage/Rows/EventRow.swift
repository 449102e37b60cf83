package import ApusChatProtocol

/// One entry in the log of a conversation.
///
/// `seq` counts all events from 1 without a gap; `n` counts messages only. A change (an edit, a
/// recall, a join) has no `n`. If it changes another event, its `ref` is the `seq` of that event.
package struct EventRow: Sendable, Equatable {
    package var conversation: ConversationKey
    package var seq: Int64
    /// The ordinal among the messages, or 0 for a change.
    package var n: Int64
    package var sender: UserKey
    /// The id that the client chose, by which a retry of `send` is recognized; nil for all events
    /// that were not added by `send` or by a scheduled message.
    package var clientID: ClientID?
    package var hash: RequestHash?
    /// Milliseconds since 1970, by the server's clock.
    package var at: Int64
    package var kind: EventKind
    /// The `seq` of the event that this one replies to or changes, or 0.
    package var ref: Int64
    /// The `seq` of the message that began the thread of this reply, or 0.
    package var thread: Int64
    /// The body as JSON text, as it is sent. Empty if the event has none or it was removed.
    package var body: String
    package var state: EventState
    /// The body before the first edit. Empty if the event was not edited.
    package var original = ""
    /// The time of the last edit or, for a call, of the last change of its state, in milliseconds
    /// since 1970; otherwise 0.
    package var editedAt: Int64
    /// The time at which the message expires, in milliseconds since 1970, or 0.
    package var expiresAt: Int64
    /// The members that the message mentions.
    package var mentions: [UserKey]
    package var mentionsAll: Bool
    package var isPinned: Bool
    /// The number of each reaction, in the order in which they were first used.
    package var reactions: [ReactionCount]
    /// The number of votes of each option of a poll. In a `vote`, the numbers of its poll after the
    /// vote.
    package var votes: [Int64]
    /// Whether a user can vote for several options of the poll.
    package var allowsManyVotes = false
    /// Whether the events of votes do not contain the chosen options.
    package var hidesVoters = false
    /// Whether a poll has ended.
    package var isClosed = false
    /// The time at which a poll ends, in milliseconds since 1970, or 0.
    package var closesAt: Int64 = 0
    /// The number of replies in the thread that this message began.
    package var replyCount: Int64 = 0
    /// The `seq` of the newest reply in the thread that this message began, or 0.
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
        (event.body, event.state, event.editedAt) = (self.original, .normal, 0)
        return event
    }

    /// Removes the content. The event keeps its position in the log.
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
    /// The ordinal of the event, which saves a lookup when messages are counted.
    package var n: Int64
    package var isHidden = false
    package var reactions: [String] = []
    /// The chosen options of a poll, one bit for each.
    package var votes: UInt64 = 0

    package init(address: AnnotationAddress, n: Int64) {
        self.address = address
        self.n = n
    }

    package var isEmpty: Bool { !self.isHidden && self.reactions.isEmpty && self.votes == 0 }
}
