import ApusChatProtocol
import ApusChatStorage

extension SQLiteStorage {
    /// Removes the mention rows of messages, so that unread mentions no longer include the
    /// messages.
    ///
    /// - Returns: The blanks whose events exist.
    func removeMentions(of blanks: [EventBlank]) throws(StorageError) -> [EventBlank] {
        var existing: [EventBlank] = []
        for blank in blanks {
            let slot = try self.existing(blank.address.conversation).slot
            let found = try self.connection.statement(FactQuery.event).with(EventPlace.id(slot, blank.address.seq)).first {
                EventColumns.row($0, in: blank.address.conversation)
            }
            guard let event = found else { continue }
            existing.append(blank)
            guard event.isMessage else { continue }
            let statement = try self.connection.statement(ChangeQuery.removeMention)
            for user in event.mentionRows { try statement.with(user, slot, event.n).run() }
        }
        return existing
    }

    /// Removes the content of existing events and the data that is derived from the content, except
    /// mentions.
    func blank(_ blanks: [EventBlank]) throws(StorageError) {
        var touched: Set<ConversationKey> = []
        for blank in blanks {
            let conversation = try self.existing(blank.address.conversation)
            let id = EventPlace.id(conversation.slot, blank.address.seq)
            touched.insert(blank.address.conversation)
            try self.connection.statement(ChangeQuery.blankEvent).with(id, blank.state.code).run()
            try self.connection.statement(ChangeQuery.addTextChange).with(id).run()
            for query in [ChangeQuery.blankEdits, .blankPreviews] {
                try self.connection.statement(query).with(id, blank.state.code).run()
            }
            for query in [ChangeQuery.unpin, .removeAnnotations, .clearAnnotations, .removeBlobReferences] {
                try self.connection.statement(query).with(id).run()
            }
        }
        for key in touched { try self.moveKeptSeq(of: try self.existing(key).slot) }
    }

    /// Advances the `seq` up to which no message has content, so that a later erasure does not
    /// examine these events again.
    private func moveKeptSeq(of slot: Int64) throws(StorageError) {
        guard let (kept, last) = try self.connection.statement(ChangeQuery.keptSeq).with(slot).first({ ($0.count(0), $0.count(1)) }) else {
            return
        }
        let end = min(last, kept + 10_000)
        let first = try self.connection.statement(ChangeQuery.firstKept).with(EventPlace.id(slot, kept + 1), EventPlace.id(slot, end)).first
        {
            EventPlace.seq($0.int(0))
        }
        let moved = first.map { $0 - 1 } ?? end
        if moved > kept { try self.connection.statement(ChangeQuery.setKeptSeq).with(slot, moved).run() }
    }

    /// Writes the references of new events to blobs.
    func write(_ references: [BlobReference]) throws(StorageError) {
        for reference in references {
            let id = EventPlace.id(try self.existing(reference.event.conversation).slot, reference.event.seq)
            let blob = try self.number(of: reference.blob)
            try self.connection.statement(ChangeQuery.addBlobReference).with(blob, id).run()
        }
    }

    /// Returns the row number of a blob. Adds the row if it does not exist.
    func number(of blob: BlobID) throws(StorageError) -> Int64 {
        let add = try self.connection.statement(ChangeQuery.addBlob)
        add.bind(1, blob.rawValue)
        try add.run()
        let find = try self.connection.statement(ChangeQuery.blob)
        find.bind(1, blob.rawValue)
        return try find.number()
    }
}
