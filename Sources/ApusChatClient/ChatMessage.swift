public import ApusChatProtocol
public import ApusJSON

/// A message or change of a conversation: an event of the log, or an outgoing message.
public struct ChatMessage: Sendable, Hashable {
    /// The conversation.
    public var conversation: ConversationID
    /// The sequence number in the log; `nil` while the message is in the outbox.
    public var seq: Int64?
    /// The ordinal among the messages; `nil` for a change and while the message is in the outbox.
    public var number: Int64?
    /// The sender.
    public var sender: UserID
    /// The id chosen by the sender, which never changes.
    public var id: ClientID
    /// The server's time, in milliseconds since 1970; the device's time while the message is in the
    /// outbox.
    public var at: Int64
    /// The kind.
    public var kind: ChatEventKind
    /// The `seq` of the event that the message refers to.
    public var ref: Int64?
    /// The encoded content; see ``content``.
    public var body: JSONValue
    /// The delivery state of an outgoing message; `nil` for messages of other users.
    public var delivery: DeliveryState?
    /// The reason why the server refused the message.
    public var refusal: String?

    /// The content of a text or picture; `nil` for a change or an unknown kind.
    public var content: ChatBody? { try? ChatBody(kind: self.kind, body: self.body) }

    /// The text of a message; `nil` when it has none.
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

/// An item of a conversation's history.
public enum ChatHistoryItem: Sendable, Hashable {
    /// A message or change.
    case message(ChatMessage)
    /// Events that exist but are not stored. ``ChatConversation/loadEarlier(limit:)`` fetches them.
    case gap(ClosedRange<Int64>)
}
