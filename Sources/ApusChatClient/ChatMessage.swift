public import ApusChatProtocol
public import ApusJSON

/// A message or change of a conversation: an event of the log, or one of ours on its way there.
public struct ChatMessage: Sendable, Hashable {
    /// Where it belongs.
    public var conversation: ConversationID
    /// Its place in the log; `nil` while it is in the outbox.
    public var seq: Int64?
    /// Its number among the messages; `nil` for a change and while it is in the outbox.
    public var number: Int64?
    /// Who sent it.
    public var sender: UserID
    /// The id its sender gave it. The same before and after it reached the server.
    public var id: ClientID
    /// The server's time, in milliseconds since 1970; our own time while it is in the outbox.
    public var at: Int64
    /// What kind of event it is.
    public var kind: ChatEventKind
    /// The event it refers to.
    public var ref: Int64?
    /// The content, see ``content``.
    public var body: JSONValue
    /// How far a message of ours got; `nil` for others'.
    public var delivery: DeliveryState?
    /// Why it was refused.
    public var refusal: String?

    /// The content of a text or picture; `nil` for a change or a kind of a later release.
    public var content: ChatBody? { try? ChatBody(kind: self.kind, body: self.body) }

    /// The words of a message; `nil` when there are none.
    public var text: String? { self.body["text"]?.stringValue }

    init(event: ChatEvent, delivery: DeliveryState?) {
        self.conversation = event.conv
        self.seq = event.seq
        self.number = event.n
        self.sender = event.sender
        self.id = event.id
        self.at = event.at
        self.kind = event.kind
        self.ref = event.ref
        self.body = event.body
        self.delivery = delivery
    }

    init(entry: OutboxEntry, sender: UserID) {
        self.conversation = entry.conversation
        self.seq = entry.seq
        self.number = entry.number
        self.sender = sender
        self.id = entry.id
        self.at = entry.at
        self.kind = entry.kind
        self.ref = entry.ref
        self.body = entry.body
        self.delivery = entry.state
        self.refusal = entry.refusal
    }
}

/// A line of a conversation's history.
public enum ChatHistoryItem: Sendable, Hashable {
    /// A message or change.
    case message(ChatMessage)
    /// These events exist and are not here. ``ChatConversation/loadEarlier(limit:)`` fetches them.
    case gap(ClosedRange<Int64>)
}
