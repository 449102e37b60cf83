import ApusChatProtocol
import ApusChatStorage

// Deletion of conversations and accounts. `Maintenance` erases their content later, in pages.
extension BatchDecider {
    /// Deletes a group or channel for all members. Later requests for the conversation are answered
    /// with `not_found`.
    mutating func delete(_ conversation: ConversationKey, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        _ = try self.authorize(.delete, actor, in: conversation)
        self.facts.conversations.modify(conversation) { row in
            row.counters.isDeleted = true
            row.counters.callSeq = 0
            row.profile = ConversationProfile()
        }
        self.wholeRows.insert(conversation)
        self.deleted.append(conversation)
        return self.unchanged(conversation)
    }

    /// Removes the memberships of users in a deleted conversation, so that it no longer counts for
    /// their accounts.
    mutating func dismiss(_ users: [UserKey], from conversation: ConversationKey) -> StoredAnswer {
        guard let counters = self.facts.conversations[conversation]?.counters, counters.isDeleted else {
            return self.unchanged(conversation)
        }
        for user in users {
            let address = MemberAddress(conversation, user)
            switch self.facts.members[address]?.state {
            case .joined: self.depart(address, as: .removed, last: counters.lastSeq, forgets: true)
            case .invited, .requested:
                self.facts.members.modify(address) { row in
                    row.state = .removed
                    row.isGone = true
                }
            case .left, .removed, .banned, .unknown, nil: break
            }
        }
        return self.unchanged(conversation)
    }

    mutating func finishErasure(of user: UserKey) -> StoredAnswer {
        if self.facts.accounts[user]?.state == .deleted { self.facts.accounts.modify(user) { $0.isErased = true } }
        return self.unchanged(ConversationKey(0))
    }
}
