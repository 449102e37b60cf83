import ApusChatProtocol
import ApusChatStorage

/// Whose read positions are shown, and where.
struct ReceiptSettings {
    private static let capacity = 100_000
    private var users: [UserKey: Bool] = [:]
    private var conversations: [ConversationKey: Bool] = [:]

    mutating func forget(_ user: UserKey) { self.users[user] = nil }
    mutating func forget(_ conversation: ConversationKey) { self.conversations[conversation] = nil }

    /// Whether other members see the read position of a member.
    mutating func shows(_ user: UserKey, in key: ConversationKey, _ reads: any AccountReads) throws -> Bool {
        let isOpen: Bool
        if let known = self.conversations[key] {
            isOpen = known
        } else {
            isOpen = try reads.head(of: user, in: key)?.conversation.settings.receipts ?? false
            if self.conversations.count >= Self.capacity { self.conversations.removeAll() }
            self.conversations[key] = isOpen
        }
        guard isOpen else { return false }
        if let known = self.users[user] { return known }
        let shows = try reads.accounts([user]).first?.privacy.receipts ?? false
        if self.users.count >= Self.capacity { self.users.removeAll() }
        self.users[user] = shows
        return shows
    }
}
