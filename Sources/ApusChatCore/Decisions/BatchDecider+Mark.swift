import ApusChatProtocol
import ApusChatStorage

extension BatchDecider {
    /// Moves a read position forward. A lower or equal position only removes the mark as unread.
    mutating func mark(_ mark: MarkCommand, by actor: UserKey) throws(ChatError) -> StoredAnswer {
        let conversation = mark.conversation
        let member = try self.authorize(.mark, actor, in: conversation)
        let counters = self.facts.conversations[conversation]?.counters ?? ConversationCounters()
        let read = min(mark.read, counters.lastN)
        let answer = StoredAnswer(conversation: conversation, seq: counters.lastSeq, n: max(read, member.readN), at: self.time)
        guard read > member.readN else {
            if member.isMarkedUnread {
                self.facts.members.modify(member.address) { $0.isMarkedUnread = false }
                self.pushes.append(.head(conversation, of: actor))
            }
            return answer
        }
        let skipped = self.skipped(SkipNeed(member: member.address, above: mark.read), read: read)
        self.facts.members.modify(member.address) { member in
            member.readN = read
            member.skipped = skipped
            member.isMarkedUnread = false
        }
        self.pushes.append(.head(conversation, of: actor))
        if self.facts.conversations[conversation]?.kind != .own {
            self.pushes.append(.read(conversation, by: actor, n: read))
        }
        return answer
    }

    /// Returns the number of the user's messages and of hidden messages after a read position, in
    /// the storage and in this batch.
    private func skipped(_ need: SkipNeed, read: Int64) -> Int64 {
        var count = self.facts.skips[need] ?? 0
        let address = need.member
        for event in self.events
        where event.conversation == address.conversation && event.sender == address.user && event.n > read {
            count += 1
        }
        for message in self.hidden
        where message.address.user == address.user && message.address.event.conversation == address.conversation && message.n > read {
            count += 1
        }
        return count
    }
}
