public import ApusChatProtocol

/// A conversation as the client knows it.
public struct ChatConversationInfo: Sendable, Hashable, Identifiable {
    /// Its id.
    public var id: ConversationID
    /// Two people or a group.
    public var kind: ConversationKind
    /// A group's title.
    public var title: String?
    /// Who takes part, and how far each has read.
    public var members: [ChatMember]
    /// What to call it: the title of a group, the display name of the other person of a pair.
    public var name: String
    /// The last event known.
    public var lastSeq: Int64
    /// The number of messages.
    public var lastNumber: Int64
    /// The message up to which this user has read.
    public var read: Int64
    /// When something last happened, in milliseconds since 1970, by the server's clock.
    public var updatedAt: Int64
    /// The newest message or change in the store.
    public var last: ChatMessage?

    /// Messages not read: derived, never stored (chat rule 3), so it cannot stick.
    public var unread: Int64 {
        let (unread, overflow) = self.lastNumber.subtractingReportingOverflow(self.read)
        return overflow ? (self.read < 0 ? .max : 0) : max(0, unread)
    }

    /// The message up to which everybody else has read.
    func readByOthers(than user: UserID) -> Int64 {
        self.members.lazy.filter { $0.user != user }.map(\.read).min() ?? 0
    }
}
