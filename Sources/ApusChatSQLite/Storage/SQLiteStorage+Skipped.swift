import ApusChatStorage

extension SQLiteStorage {
    /// Returns the number of messages above an ordinal that the user sent or that are hidden from
    /// the user. They do not count as unread.
    ///
    /// If there are many messages above the ordinal, and fewer between the read position and the
    /// ordinal, the method counts the fewer messages and subtracts the result from the stored
    /// number. A user who marks one message after another as read therefore causes one examination
    /// of each message.
    func skipped(_ need: SkipNeed) throws(StorageError) -> Int64 {
        guard let conversation = try self.conversation(need.member.conversation) else { return 0 }
        let counters = conversation.row.counters
        guard need.above < counters.lastN else { return 0 }
        let above = max(0, need.above)
        if counters.lastN - above > Self.longestRecount {
            if let member = try self.member(need.member.user, of: conversation) {
                let read = max(member.readN, member.floorN)
                if above >= read, above - read < counters.lastN - above {
                    return max(0, member.skipped - (try self.skipped(need.member.user, from: read, through: above, of: conversation)))
                }
            }
        }
        return try self.skipped(need.member.user, from: above, through: counters.lastN, of: conversation)
    }

    /// The maximum number of messages that are always counted anew. The count corrects a wrong
    /// stored number.
    private static var longestRecount: Int64 { 500 }

    private func skipped(_ user: UserKey, from low: Int64, through high: Int64, of conversation: HotConversation) throws(StorageError)
        -> Int64
    {
        guard low < high else { return 0 }
        let slot = conversation.slot
        let last = try self.seq(ofOrdinal: high, in: conversation)
        let statement = try self.connection.statement(FactQuery.eventsBackwards)
        // The message with ordinal `low` has at least the `seq` `low`.
        statement.with(EventPlace.id(slot, max(1, low)), EventPlace.id(slot, last))
        var own: Set<Int64> = []
        var first = last + 1
        do throws(StorageError) {
            while try statement.step() {
                let n = statement.int(1)
                guard n > low else { break }
                first = EventPlace.seq(statement.int(0))
                if statement.bool(2), UserKey(statement.int(3)) == user { own.insert(first) }
            }
            statement.reset()
        } catch {
            statement.reset()
            throw error
        }
        // A change with `n > low` follows the message with the ordinal `low + 1`.
        let hidden = try self.connection.statement(FactQuery.hiddenEvents)
        hidden.with(user.rawValue, EventPlace.id(slot, first), EventPlace.id(slot, last))
        try hidden.each { own.insert(EventPlace.seq($0.int(0))) }
        return Int64(own.count)
    }

    /// Returns, by bisection, the `seq` of the last event up to which the log contains `n`
    /// messages.
    private func seq(ofOrdinal n: Int64, in conversation: HotConversation) throws(StorageError) -> Int64 {
        let counters = conversation.row.counters
        guard n < counters.lastN else { return counters.lastSeq }
        // Each message above ordinal `n` has a `seq` above the result, which bounds the search.
        var (low, high) = (max(1, n), counters.lastSeq - (counters.lastN - n))
        let statement = try self.connection.statement(FactQuery.ordinal)
        while low < high {
            let middle = low + (high - low + 1) / 2
            let found = try statement.with(EventPlace.id(conversation.slot, middle)).number()
            if found <= n { low = middle } else { high = middle - 1 }
        }
        return low
    }
}
