public import ApusChatProtocol

/// What the head of a conversation leaves out.
public struct ConversationInfo: Sendable, Hashable {
    /// The head at the time of the request.
    public var head: ChatHead
    /// The description.
    public var about: String?
    /// The time of creation, in milliseconds since 1970.
    public var createdAt: Int64
    /// The user that created the conversation.
    public var creator: UserName?
    /// The settings of a group or channel.
    public var settings: ConversationSettings? { self.head.settings }
}

/// A form that a message had after one of its edits, or at first.
public struct MessageVersion: Sendable, Hashable {
    /// The place of the message or of the edit in the log.
    public var seq: Int64
    /// The time, in milliseconds since 1970.
    public var at: Int64
    /// The body; nil if it was removed.
    public var body: ChatBody?

    /// The form of an event of the history; nil for another change.
    /// - Parameter kind: The kind of the message.
    init?(_ event: ChatEvent, of kind: EventKind) {
        self.seq = event.seq
        self.at = event.at
        switch event.kind {
        case .edit:
            guard case .edit(let edit)? = ChatChange(event) else { return nil }
            self.body = try? ChatBody(kind: kind, body: edit.body)
        default:
            guard event.kind.isMessage else { return nil }
            self.body = ChatBody(event)
        }
    }
}
