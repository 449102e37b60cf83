public import ApusJSON

/// The state of an event's content.
public enum EventState: String, WireChoice {
    /// The content is as it was sent.
    case normal
    /// An `edit` replaced the content.
    case edited
    /// A `recall` removed the content. The body is empty.
    case recalled
    /// The content was removed because the message has expired. The body is empty.
    case expired
    /// The content was removed with the sender's account, or by an operator. The body is empty.
    case erased
    /// A state that a later version of the server defines. Treat it as `normal`.
    case unknown

    /// Whether the content was removed.
    public var isBlank: Bool { self == .recalled || self == .expired || self == .erased }
}

/// A reaction to a message, and the number of users who reacted with it.
public struct ReactionCount: Hashable, Sendable {
    /// The reaction: an emoji, or a short text.
    public var key: String
    /// The number of users.
    public var count: Int64

    package init(key: String, count: Int64) {
        self.key = key
        self.count = count
    }
}

/// A summary of the replies of a thread, in the message that began the thread.
public struct ThreadSummary: Hashable, Sendable {
    /// The number of replies.
    public var count: Int64
    /// The `seq` of the newest reply.
    public var seq: Int64

    package init(count: Int64, seq: Int64) {
        self.count = count
        self.seq = seq
    }
}

/// An entry in the log of a conversation: a message or a change.
///
/// A change has a `ref`. The server also applies the change to the event to which the `ref` refers,
/// so that a page of the log contains each message in its current form.
public struct ChatEvent: Hashable, Sendable {
    /// The conversation.
    public var conversation: ConversationID
    /// The position in the log: 1, 2, 3 and so on, without gaps.
    public var seq: Int64
    /// The ordinal among the messages: 1, 2, 3 and so on, without gaps; nil for a change.
    public var n: Int64?
    /// The sender, as authenticated by the server; nil for a hidden event and for an event of the
    /// server.
    public var sender: UserName?
    /// The id that the sender's client chose for the message; nil for a change, a forwarded message
    /// and a call.
    public var id: ClientID?
    /// The time at which the server stored the event, in milliseconds since 1970.
    public var at: Int64
    /// The kind.
    public var kind: EventKind
    /// The `seq` of the event to which a reply or a change refers; nil for other events.
    public var ref: Int64?
    /// The `seq` of the message that began the thread of this reply; nil outside of threads.
    public var thread: Int64?
    /// The state of the content.
    public var state: EventState
    /// The content, depending on the kind; always an object.
    public var body: JSONObject
    /// The time of the last edit or, for a call, of the last change of its state, in milliseconds
    /// since 1970; nil if there was none.
    public var editedAt: Int64?
    /// The time at which the message expires, in milliseconds since 1970; nil if it does not
    /// expire.
    public var expiresAt: Int64?
    /// The reactions, the most frequent first.
    public var reactions: [ReactionCount]
    /// The number of votes for each option of a poll. In a `vote` event, the numbers of the poll
    /// after the vote.
    public var votes: [Int64]
    /// The summary of the thread that this message began; nil if it did not begin a thread.
    public var replies: ThreadSummary?

    package init(
        conversation: ConversationID, seq: Int64, n: Int64?, sender: UserName?, id: ClientID?, at: Int64, kind: EventKind,
        ref: Int64? = nil, thread: Int64? = nil, state: EventState = .normal, body: JSONObject, editedAt: Int64? = nil,
        expiresAt: Int64? = nil, reactions: [ReactionCount] = [], votes: [Int64] = [], replies: ThreadSummary? = nil
    ) {
        self.conversation = conversation
        self.seq = seq
        self.n = n
        self.sender = sender
        self.id = id
        self.at = at
        self.kind = kind
        self.ref = ref
        self.thread = thread
        self.state = state
        self.body = body
        self.editedAt = editedAt
        self.expiresAt = expiresAt
        self.reactions = reactions
        self.votes = votes
        self.replies = replies
    }

    /// Returns the event that replaces an event that a member may not see.
    package static func hidden(conversation: ConversationID, seq: Int64, n: Int64?) -> Self {
        Self(conversation: conversation, seq: seq, n: n, sender: nil, id: nil, at: 0, kind: .hidden, body: [:])
    }
}

extension ReactionCount: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.key = try reader.string("key", minimum: 1, maximum: ChatLimits.reactionLength)
        self.count = try reader.integer("count")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("key", self.key)
        writer.write("count", self.count)
    }
}

extension ThreadSummary: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.count = try reader.integer("count")
        self.seq = try reader.integer("seq")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("count", self.count)
        writer.write("seq", self.seq)
    }
}

extension ChatEvent: WireObject {
    package init(from reader: WireReader) throws(WireError) {
        self.conversation = try reader.text("conv")
        self.seq = try reader.integer("seq", in: WireReader.seqs)
        self.n = try reader.integerIfPresent("n", in: WireReader.seqs)
        self.sender = try reader.textIfPresent("sender")
        self.id = try reader.textIfPresent("id")
        self.at = try reader.integerIfPresent("at") ?? 0
        self.kind = try reader.text("kind")
        self.ref = try reader.integerIfPresent("ref", in: WireReader.seqs)
        self.thread = try reader.integerIfPresent("thread", in: WireReader.seqs)
        self.state = try reader.choiceIfPresent("state") ?? .normal
        self.body = try reader.freeIfPresent("body") ?? [:]
        self.editedAt = try reader.integerIfPresent("edited_at")
        self.expiresAt = try reader.integerIfPresent("expires_at")
        self.reactions = try reader.objects("reactions", maximum: ChatLimits.reactions)
        self.votes = try reader.integers("votes", maximum: ChatLimits.pollOptions)
        self.replies = try reader.objectIfPresent("replies")
    }

    package func write(to writer: inout WireWriter) {
        writer.write("conv", self.conversation)
        writer.write("seq", self.seq)
        writer.write("n", ifPresent: self.n)
        writer.write("sender", ifPresent: self.sender)
        writer.write("id", ifPresent: self.id)
        if self.at != 0 { writer.write("at", self.at) }
        writer.write("kind", self.kind)
        writer.write("ref", ifPresent: self.ref)
        writer.write("thread", ifPresent: self.thread)
        if self.state != .normal { writer.write("state", self.state) }
        if !self.body.isEmpty { writer.write("body", self.body) }
        writer.write("edited_at", ifPresent: self.editedAt)
        writer.write("expires_at", ifPresent: self.expiresAt)
        writer.write("reactions", ifAny: self.reactions)
        writer.write("votes", ifAny: self.votes)
        writer.write("replies", ifPresent: self.replies)
    }
}
