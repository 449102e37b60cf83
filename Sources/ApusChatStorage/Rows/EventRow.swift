package import ApusChatProtocol

/// One entry of a conversation's log.
///
/// `seq` counts every event from 1 without a hole; `n` counts messages only. A change (an edit, a
/// recall, a join) has no `n`; its `ref` is the seq of the event that it changes.
package struct EventRow: Sendable, Equatable {
    package var conversation: ConversationKey
    package var seq: Int64
    /// The ordinal among the messages, or 0 for a change.
    package var n: Int64
    package var sender: UserKey
    /// The sender's id of the request, by which a retry is recognized. Nil for events that the
    /// server makes.
    package var clientID: ClientID?
    package var hash: RequestHash?
    /// Milliseconds since 1970, by the server's clock.
    package var at: Int64
    package var kind: EventKind
    /// The seq of the event that this one answers or changes, or 0.
    package var ref: Int64
    /// The seq of the message whose thread this reply belongs to, or 0.
    package var thread: Int64
    /// The body as JSON text, as it goes to the wire. Empty if the event has none or lost it.
    package var body: String
    package var state: EventState
    /// The body before the first edit. Empty if the event was not edited.
    package var original = ""
    /// The time of the last edit, or 0.
    package var editedAt: Int64
    /// The time at which the body is blanked, or 0.
    package var expiresAt: Int64
    /// The members named by the message.
    package var mentions: [UserKey]
    package var mentionsAll: Bool
    package var isPinned: Bool
    /// How often each reaction was given, in the order of the first one.
    package var reactions: [ReactionCount]
    /// The number of votes of each option of a poll.
    package var votes: [Int64]
    /// Whether a poll permits several options.
    package var allowsManyVotes = false
    /// Whether the events of votes do not tell the chosen options.
    package var hidesVoters = false
    /// Whether a poll has ended.
    package var isClosed = false
    /// The time at which a poll ends, or 0.
    package var closesAt: Int64 = 0
    /// The number of replies in the thread that this message began, and the seq of the newest one.
    package var replyCount: Int64 = 0
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
    /// A message has an ordinal; a change has none.
    package var isMessage: Bool { self.n > 0 }

    /// The event before its first edit, for a list of its edits.
    package var firstForm: EventRow {
        guard !self.original.isEmpty, !self.state.isBlank else { return self }
        var event = self
        (event.body, event.state, event.editedAt) = (self.original, .normal, 0)
        return event
    }

    /// Removes the content and keeps the place in the log.
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

/// What one user attached to one event: reactions, a vote, or the wish not to see it.
///
/// A message that is hidden from a user, by a block or by "delete for me", is served to that user
/// without sender and body, so that the log has no hole.
package struct AnnotationRow: Sendable, Equatable {
    package var address: AnnotationAddress
    /// The ordinal of the event, so that a recount needs no second lookup.
    package var n: Int64
    package var isHidden = false
    package var reactions: [String] = []
    /// The chosen options of a poll, one bit each.
    package var votes: UInt64 = 0

    package init(address: AnnotationAddress, n: Int64) {
        self.address = address
        self.n = n
    }

    package var isEmpty: Bool { !self.isHidden && self.reactions.isEmpty && self.votes == 0 }
}
