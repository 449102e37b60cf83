import ApusChatProtocol
import ApusChatStorage

/// Caches whether users and conversations show read positions and typing to others, so that a push
/// rarely reads the storage.
struct ShownSettings {
    private struct User {
        let name: UserName
        let privacy: AccountPrivacy
    }

    private struct Conversation {
        let kind: ConversationKind
        let pair: PairAddress?
        let receipts: Bool
        var memberCount: Int
    }

    private static let capacity = 100_000
    private var users: [UserKey: User] = [:]
    private var conversations: [ConversationKey: Conversation] = [:]
    /// Whether one user of a pair blocks the other.
    private var blocks: [MemberAddress: Bool] = [:]

    /// Updates the cache after a batch.
    mutating func committed(_ changes: Changes) {
        for account in changes.accounts { self.users[account.key] = nil }
        for member in changes.members { self.blocks[member.address] = nil }
        for conversation in changes.conversations {
            if conversation.row != nil {
                self.conversations[conversation.key] = nil
            } else {
                self.conversations[conversation.key]?.memberCount = conversation.counters.memberCount
            }
        }
    }

    /// Returns whether other members see the positions of a member.
    mutating func showsReceipts(_ user: UserKey, in key: ConversationKey, _ reads: any AccountReads) throws -> Bool {
        guard let conversation = try self.conversation(key, of: user, reads), conversation.receipts, conversation.kind != .channel,
            conversation.memberCount <= ChatLimits.receiptMembers
        else { return false }
        return try self.user(user, reads)?.privacy.receipts ?? false
    }

    /// Returns the name of a member who is writing; nil if other members may not see this.
    mutating func typist(_ user: UserKey, in key: ConversationKey, _ reads: any AccountReads) throws -> UserName? {
        guard let account = try self.user(user, reads), account.privacy.typing,
            let conversation = try self.conversation(key, of: user, reads)
        else { return nil }
        guard let pair = conversation.pair else { return account.name }
        let other = MemberAddress(key, pair.low == user ? pair.high : pair.low)
        return try self.blocks(other, reads) ? nil : account.name
    }

    private mutating func user(_ key: UserKey, _ reads: any AccountReads) throws -> User? {
        if let known = self.users[key] { return known }
        guard let row = try reads.accounts([key]).first else { return nil }
        if self.users.count >= Self.capacity { self.users.removeAll() }
        let user = User(name: row.name, privacy: row.privacy)
        self.users[key] = user
        return user
    }

    /// Returns a conversation, from the cache or from the storage; nil if it cannot be read as the
    /// user.
    ///
    /// - Parameter user: A member with whose permissions the head of the conversation is read.
    private mutating func conversation(_ key: ConversationKey, of user: UserKey, _ reads: any AccountReads) throws -> Conversation? {
        if let known = self.conversations[key] { return known }
        guard let row = try reads.head(of: user, in: key)?.conversation else { return nil }
        if self.conversations.count >= Self.capacity { self.conversations.removeAll() }
        let conversation = Conversation(
            kind: row.kind, pair: row.pair, receipts: row.settings.receipts, memberCount: row.counters.memberCount)
        self.conversations[key] = conversation
        return conversation
    }

    private mutating func blocks(_ address: MemberAddress, _ reads: any AccountReads) throws -> Bool {
        if let known = self.blocks[address] { return known }
        let blocks = try reads.head(of: address.user, in: address.conversation)?.member.blocksPeer ?? false
        if self.blocks.count >= Self.capacity { self.blocks.removeAll() }
        self.blocks[address] = blocks
        return blocks
    }
}
