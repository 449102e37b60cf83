import ApusChatStorage

/// The state of the table `event_recent`, as the writer last changed it.
struct RecentPlaces {
    /// The number of entries; nil if they must be counted.
    var count: Int?
    /// The end of the part that was moved last.
    var end = Int64.min
}

/// The index of ids: `event_recent` for most new events, and `event_place` for the others.
extension SQLiteStorage {
    /// Moves a part of `event_recent` to `event_place` if there are too many entries.
    ///
    /// The part is a range of conversations. The next part follows it, so that the entries of a
    /// conversation are collected for a whole round and then written to one or a few pages. No
    /// batch writes many pages.
    ///
    /// - Parameter added: The number of entries that the batch has added.
    func moveRecentPlaces(added: Int) throws(StorageError) {
        var rest: Int
        if let count = self.recentPlaces.count {
            rest = count + added
        } else {
            rest = Int(try self.connection.statement(ChangeQuery.recentPlaces).number())
        }
        let limit = self.environment.recentPlaces
        // The first part can end at the last entry before it is large enough.
        for _ in 0..<2 where rest >= limit {
            let start = self.recentPlaces.end
            let find = try self.connection.statement(ChangeQuery.recentPlace).with(start, Int64(rest - limit + limit / 6))
            let end = try find.first { EventPlace.id(EventPlace.slot($0.int(0)), .max) } ?? .max
            try self.connection.statement(ChangeQuery.moveRecentPlaces).with(start, end).run()
            try self.connection.statement(ChangeQuery.removeRecentPlaces).with(start, end).run()
            rest -= Int(self.connection.changedRows)
            self.recentPlaces.end = end == .max ? .min : end
        }
        self.recentPlaces.count = rest
    }

    /// Throws if the log of a conversation has events after the last one of its counters. Their
    /// ids would be used again.
    func examineEnd(of conversation: HotConversation) throws(StorageError) {
        let (first, last) = (EventPlace.id(conversation.slot, conversation.lastSeq + 1), EventPlace.id(conversation.slot, .max))
        guard try self.connection.statement(ChangeQuery.laterEvents).with(first, last).number() == 0 else {
            throw StorageError(
                .invalidUse,
                message:
                    "the log of conversation \(conversation.row.key.rawValue) has events after seq \(conversation.lastSeq), its last one"
            )
        }
        conversation.isEndKnown = true
    }
}
