import ApusChatProtocol
import ApusChatStorage

extension SQLiteStorage {
    /// Writes a batch, within its transaction.
    func write(_ changes: Changes, commit: Int64) throws(StorageError) {
        for change in changes.conversations { try self.write(change, commit: commit) }
        try self.append(changes.events, conversations: changes.conversations.count)
        // Removes mentions first, because a target without content no longer names the mentioned
        // users.
        let blanks = try self.removeMentions(of: changes.blanks)
        for event in changes.targets { try self.write(target: event) }
        for removal in changes.folderRemovals { try self.write(removal, commit: commit) }
        for member in changes.members { try self.write(member, commit: commit) }
        for annotation in changes.annotations { try self.write(annotation) }
        try self.write(changes.blobReferences)
        try self.blank(blanks)
        for request in changes.requests {
            let statement = try self.connection.statement(ChangeQuery.setRequest)
            RequestColumns.bind(request, to: statement)
            try statement.run()
        }
        for account in changes.accounts { try self.write(account, commit: commit) }
        for contact in changes.contacts {
            let statement = try self.connection.statement(ChangeQuery.setContact)
            ContactColumns.bind(contact, commit: commit, to: statement)
            try statement.run()
        }
        for link in changes.links {
            let statement = try self.connection.statement(ChangeQuery.setLink)
            LinkColumns.bind(link, to: statement)
            try statement.run()
        }
        for report in changes.reports { try self.write(report) }
        for row in changes.scheduled {
            let statement = try self.connection.statement(MaintenanceQuery.setScheduled)
            ScheduledColumns.bind(row, to: statement)
            try statement.run()
        }
        for address in changes.unscheduled {
            let statement = try self.connection.statement(MaintenanceQuery.removeScheduled).with(address.user.rawValue)
            statement.bind(2, address.id.rawValue)
            try statement.run()
        }
        if !changes.credentials.isEmpty { try self.write(changes.credentials) }
    }

    /// Returns the conversation to which a row belongs. Throws if it does not exist.
    func existing(_ key: ConversationKey) throws(StorageError) -> HotConversation {
        guard let found = try self.conversation(key) else {
            throw StorageError(.invalidUse, message: "the batch writes to conversation \(key.rawValue), which does not exist")
        }
        return found
    }

    private func write(_ change: ConversationChange, commit: Int64) throws(StorageError) {
        if let found = try self.conversation(change.key) {
            if let row = change.row {
                let statement = try self.connection.statement(ChangeQuery.setConversation)
                ConversationColumns.bind(row, slot: found.slot, to: statement)
                try statement.run()
                found.row = row
            }
            found.row.counters = change.counters
            found.row.changed = commit
            let statement = try self.connection.statement(ChangeQuery.setCounters)
            ConversationColumns.bind(change.counters, slot: found.slot, commit: commit, to: statement)
            try statement.run()
        } else if var row = change.row {
            guard self.nextSlot <= EventPlace.largestSlot else {
                throw StorageError(
                    .invalidUse,
                    message: "the storage cannot number more than \(EventPlace.largestSlot) conversations; use a new data folder")
            }
            row.counters = change.counters
            row.changed = commit
            let new = HotConversation(slot: self.nextSlot, row: row, lastSeq: 0, lastN: 0)
            self.nextSlot += 1
            let conversation = try self.connection.statement(ChangeQuery.addConversation)
            ConversationColumns.bind(row, slot: new.slot, to: conversation)
            try conversation.run()
            let counters = try self.connection.statement(ChangeQuery.addCounters)
            ConversationColumns.bind(change.counters, slot: new.slot, commit: commit, to: counters)
            try counters.run()
            self.hot.insert(new)
        }
    }

    /// - Parameter conversations: The number of conversations that the batch changes.
    private func append(_ events: [EventRow], conversations: Int) throws(StorageError) {
        guard let first = events.first else { return }
        let statement = try self.connection.statement(ChangeQuery.addEvent)
        // A batch with several events for each conversation would write each entry twice without
        // changing much fewer pages.
        let isRecent = events.count < 2 * conversations
        let place = try self.connection.statement(isRecent ? ChangeQuery.addRecentPlace : .addPlace)
        var conversation = try self.existing(first.conversation)
        for event in events {
            if event.conversation != conversation.row.key { conversation = try self.existing(event.conversation) }
            guard event.seq == conversation.lastSeq + 1, event.seq <= EventPlace.largestSeq else {
                throw StorageError(
                    .invalidUse,
                    message: "the event has seq \(event.seq) after \(conversation.lastSeq); the maximum is \(EventPlace.largestSeq)")
            }
            if !conversation.isEndKnown { try self.examineEnd(of: conversation) }
            conversation.lastSeq = event.seq
            if event.isMessage { conversation.lastN = event.n }
            EventColumns.bindNew(event, slot: conversation.slot, ordinal: conversation.lastN, to: statement)
            try statement.run()
            place.bind(1, EventPlace.id(conversation.slot, event.seq))
            place.bind(2, self.connection.insertedRow)
            try place.run()
            if event.isChanged { try self.write(target: event) }
            if event.isMessage, event.mentionsAll || !event.mentions.isEmpty { try self.addMentions(of: event, slot: conversation.slot) }
        }
        if isRecent { try self.moveRecentPlaces(added: events.count) }
    }

    private func addMentions(of event: EventRow, slot: Int64) throws(StorageError) {
        let statement = try self.connection.statement(ChangeQuery.addMention)
        for user in event.mentionRows {
            try statement.with(user, slot, event.n, EventPlace.id(slot, event.seq), event.sender.rawValue).run()
        }
    }

    private func write(target event: EventRow) throws(StorageError) {
        let id = EventPlace.id(try self.existing(event.conversation).slot, event.seq)
        let statement = try self.connection.statement(ChangeQuery.setTarget)
        EventColumns.bindTarget(event, id: id, to: statement)
        try statement.run()
        if event.editedAt > 0 { try self.connection.statement(ChangeQuery.addTextChange).with(id).run() }
        try self.connection.statement(event.isPinned ? ChangeQuery.pin : .unpin).with(id).run()
    }

    private func write(_ member: MemberRow, commit: Int64) throws(StorageError) {
        let conversation = try self.existing(member.address.conversation)
        let user = member.address.user
        let known = conversation.members[user]
        if let known, MemberColumns.differInPositionOnly(known, member) {
            let statement = try self.connection.statement(ChangeQuery.setPosition)
            MemberColumns.bindPosition(member, slot: conversation.slot, commit: commit, to: statement)
            try statement.run()
        } else {
            let statement = try self.connection.statement(ChangeQuery.setMember)
            MemberColumns.bind(member, slot: conversation.slot, commit: commit, to: statement)
            try statement.run()
        }
        if known == nil { self.hot.addWeight(1) }
        var row = member
        row.changed = commit
        conversation.members[user] = row
    }

    private func write(_ removal: FolderRemoval, commit: Int64) throws(StorageError) {
        let bits = Int64(bitPattern: removal.folders)
        try self.connection.statement(ChangeQuery.removeFolders).with(removal.user.rawValue, bits, commit).run()
        self.hot.modify(removal.user) { row in
            guard row.folders & removal.folders != 0 else { return }
            row.folders &= ~removal.folders
            row.changed = commit
        }
    }

    private func write(_ annotation: AnnotationRow) throws(StorageError) {
        let address = annotation.address
        let id = EventPlace.id(try self.existing(address.event.conversation).slot, address.event.seq)
        if annotation.isEmpty {
            try self.connection.statement(ChangeQuery.removeAnnotation).with(address.user.rawValue, id).run()
        } else {
            let statement = try self.connection.statement(ChangeQuery.setAnnotation)
            AnnotationColumns.bind(annotation, id: id, to: statement)
            try statement.run()
        }
    }

    private func write(_ account: AccountRow, commit: Int64) throws(StorageError) {
        let key = account.key.rawValue
        let name = account.name.rawValue
        let former = try self.connection.statement(ChangeQuery.accountNames).with(key).first { ($0.text(0), $0.text(1)) }
        if former == nil || former?.0 != name || former?.1 != account.nickname {
            if let former { try self.index(former.0, former.1, of: key, ChangeQuery.removeName) }
            try self.index(name, account.nickname, of: key, ChangeQuery.addName)
        }
        let statement = try self.connection.statement(ChangeQuery.setAccount)
        AccountColumns.bind(account, commit: commit, to: statement)
        try statement.run()
    }

    private func index(_ name: String, _ nickname: String, of user: Int64, _ query: ChangeQuery) throws(StorageError) {
        let statement = try self.connection.statement(query)
        statement.bind(1, user)
        statement.bind(2, NameGrams.words(of: name))
        statement.bind(3, NameGrams.words(of: nickname))
        try statement.run()
    }

    private func write(_ report: ReportRow) throws(StorageError) {
        // A report of a conversation has no `seq`. Its subject is 0, because the column cannot be
        // NULL.
        let statement = try self.connection.statement(ChangeQuery.addReport).with(report.reporter.rawValue, report.subject?.rawValue ?? 0)
        if let conversation = report.event?.conversation ?? report.conversation {
            statement.bind(3, conversation.rawValue)
        } else {
            statement.bindNull(3)
        }
        if let seq = report.event?.seq { statement.bind(4, seq) } else { statement.bindNull(4) }
        statement.bind(5, report.reason)
        statement.bind(6, report.at)
        statement.bind(7, report.text)
        try statement.run()
    }
}

extension EventRow {
    /// Whether later commands of the batch changed columns that the insertion of an event does not
    /// set.
    fileprivate var isChanged: Bool {
        self.editedAt > 0 || self.isPinned || self.isClosed || self.replyCount > 0 || !self.reactions.isEmpty
    }

    /// The users for whom mention rows of a message are written; 0 represents all members.
    var mentionRows: [Int64] { self.mentionsAll ? [0] : self.mentions.map(\.rawValue) }
}
