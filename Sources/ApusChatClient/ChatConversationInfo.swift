public import ApusChatProtocol

/// The properties of a conversation.
public struct ChatConversationInfo: Sendable, Hashable, Identifiable {
    /// The identifier.
    public var id: ConversationID
    /// The kind: pair or group.
    public var kind: ConversationKind
    /// The title of a group.
    public var title: String?
    /// The members and their read positions.
    public var members: [ChatMember]
    /// The name to show: the title of a group, or the display name of the other user of a pair.
    public var name: String
    /// The `seq` of the last known event.
    public var lastSeq: Int64
    /// The number of messages.
    public var lastNumber: Int64
    /// The number of the last message that this user has read.
    public var read: Int64
    /// The time of the last change, in milliseconds since 1970, by the server's clock.
    public var updatedAt: Int64
    /// The newest stored event.
    public var last: ChatMessage?

    /// The number of unread messages. It is computed and never stored, so that it always matches
    /// the read position (docs/chat-rules.md, 3).
    public var unread: Int64 {
        let (unread, overflow) = self.lastNumber.subtractingReportingOverflow(self.read)
        return overflow ? (self.read < 0 ? .max : 0) : max(0, unread)
    }

    /// Returns the number of the last message that all other members have read.
    func readByOthers(than user: UserID) -> Int64 {
        self.members.lazy.filter { $0.user != user }.map(\.read).min() ?? 0
    }
}
