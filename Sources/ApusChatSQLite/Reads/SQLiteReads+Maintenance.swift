import ApusChatProtocol
package import ApusChatStorage

extension SQLiteReads {
    package func scheduled(of user: UserKey, limit: Int) throws(StorageError) -> [ScheduledRow] {
        // A user has at most `ChatLimits.scheduledMessages` rows.
        let rows = try self.connection.statement(MaintenanceQuery.scheduledOfUser).with(user.rawValue).all(ScheduledColumns.row)
        let sorted = rows.compactMap { $0 }.sorted { ($0.sendAt, $0.address.id.rawValue) < ($1.sendAt, $1.address.id.rawValue) }
        return Array(sorted.prefix(limit))
    }

    package func dueScheduled(at time: Int64, limit: Int) throws(StorageError) -> [ScheduledRow] {
        let statement = try self.connection.statement(MaintenanceQuery.dueScheduled)
        return try statement.with(time, Int64(limit)).all(ScheduledColumns.row).compactMap { $0 }
    }

    package func calls(limit: Int) throws(StorageError) -> [EventAddress] {
        let statement = try self.connection.statement(MaintenanceQuery.calls)
        return try statement.with(Int64(limit)).all { EventAddress(ConversationKey($0.int(0)), $0.count(1)) }
    }

    package func deletedConversations(limit: Int) throws(StorageError) -> [ConversationKey] {
        try self.connection.statement(MaintenanceQuery.deletedConversations).with(Int64(limit)).all { ConversationKey($0.int(0)) }
    }

    package func deletedAccounts(limit: Int) throws(StorageError) -> [UserKey] {
        try self.connection.statement(MaintenanceQuery.deletedAccounts).with(.min, Int64(limit)).all { UserKey($0.int(0)) }
    }

    package func memberships(of user: UserKey, after cursor: ConversationKey?, limit: Int) throws(StorageError) -> [ConversationKey] {
        let statement = try self.connection.statement(MaintenanceQuery.memberships)
        return try statement.with(user.rawValue, cursor?.rawValue ?? .min, Int64(limit)).all { ConversationKey($0.int(0)) }
    }

    package func events(
        of conversation: ConversationKey, by sender: UserKey, after seq: Int64, changes: Bool, limit: Int
    ) throws(StorageError) -> SenderPage {
        try self.connection.snapshot { () throws(StorageError) in
            guard let slot = try self.slot(of: conversation),
                let last = try self.connection.statement(ListQuery.log).with(slot).first({ min($0.count(0), EventPlace.largestSeq) })
            else { return SenderPage(events: [], next: nil) }
            let start = max(0, min(seq, last))
            let (first, end) = (start + 1, min(last, start + SenderPage.window))
            guard first <= end else { return SenderPage(events: [], next: nil) }
            let statement = try self.connection.statement(MaintenanceQuery.eventsOfSender)
            statement.with(EventPlace.id(slot, first), EventPlace.id(slot, end), sender.rawValue, changes ? 1 : 0, Int64(limit))
            let events = try statement.all { EventAddress(conversation, EventPlace.seq($0.int(0))) }
            if events.count == limit, let last = events.last { return SenderPage(events: events, next: last.seq) }
            return SenderPage(events: events, next: end < last ? end : nil)
        }
    }
}
