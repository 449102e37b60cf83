import ApusChatProtocol
import ApusChatStorage

extension SQLiteStorage {
    /// Removes the mentions of messages from the numbers of unread mentions.
    func removeMentions(of blanks: [EventBlank]) throws(StorageError) {
        for blank in blanks {
            let slot = try self.existing(blank.address.conversation).slot
            let found = try self.connection.statement(FactQuery.event).with(EventPlace.id(slot, blank.address.seq)).first {
                EventColumns.row($0, in: blank.address.conversation)
            }
            guard let event = found, event.isMessage else { continue }
            let statement = try self.connection.statement(ChangeQuery.removeMention)
            for user in event.mentionRows { try statement.with(user, slot, event.n).run() }
        }
    }

    /// Removes the content of events and the data derived from it, except mentions.
    func blank(_ blanks: [EventBlank]) throws(StorageError) {
        var touched: Set<ConversationKey> = []
        for blank in blanks {
            let conversation = try self.existing(blank.address.conversation)
            let id = EventPlace.id(conversation.slot, blank.address.seq)
            guard try self.connection.statement(FactQuery.event).with(id).first({ _ in true }) != nil else { continue }
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

    /// Moves the `seq` up to which no message has content, so that an erasure does not examine the
    /// same events again.
    private func moveKeptSeq(of slot: Int64) throws(StorageError) {
        guard let (kept, last) = try self.connection.statement(ChangeQuery.keptSeq).with(slot).first({ ($0.int(0), $0.int(1)) }) else {
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

    /// Returns the row number of a blob, whose row is added if it does not exist.
    func number(of blob: BlobID) throws(StorageError) -> Int64 {
        let add = try self.connection.statement(ChangeQuery.addBlob)
        add.bind(1, blob.rawValue)
        try add.run()
        let find = try self.connection.statement(ChangeQuery.blob)
        find.bind(1, blob.rawValue)
        return try find.number()
    }
}
