public import ApusChatProtocol

/// The head of a conversation, and the properties that the head does not contain.
public struct ConversationInfo: Sendable, Hashable {
    /// The head at the time of the request.
    public var head: ChatHead
    /// The description; nil if absent.
    public var about: String?
    /// The time of creation, in milliseconds since 1970.
    public var createdAt: Int64
    /// The user who created the conversation; nil if it is not known.
    public var creator: UserName?
    /// The settings of a group or channel; nil for other kinds, unless their messages expire.
    public var settings: ConversationSettings? { self.head.settings }
}

/// A version of a message: the original version, or the version after an edit.
public struct MessageVersion: Sendable, Hashable {
    /// The position of the message or of the edit in the log.
    public var seq: Int64
    /// The time of the message or of the edit, in milliseconds since 1970.
    public var at: Int64
    /// The body of this version; nil if its content was removed.
    public var body: ChatBody?

    /// Creates the version that an event of the history describes; nil for an event that is neither
    /// the message nor an edit.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - kind: The kind of the message.
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
