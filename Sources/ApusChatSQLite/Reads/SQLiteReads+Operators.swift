package import ApusChatStorage

/// The reads for operators. Each call returns one page of a list.
extension SQLiteReads {
    /// Returns accounts in any state, in key order.
    package func allAccounts(after cursor: UserKey?, limit: Int) throws(StorageError) -> [AccountRow] {
        try self.connection.statement(OperatorQuery.accounts).with(cursor?.rawValue ?? .min, Int64(limit)).all(AccountColumns.row)
    }

    /// Returns invitations in the order of their hashes.
    package func invitations(after hash: [UInt8], limit: Int) throws(StorageError) -> [InvitationRow] {
        let statement = try self.connection.statement(OperatorQuery.invitations)
        // An empty buffer has no address and would bind NULL, which matches no row.
        statement.bind(1, bytes: hash.isEmpty ? [0] : hash)
        statement.bind(2, Int64(limit))
        return try statement.all { row in
            InvitationRow(hash: Array(row.bytes(0)), createdAt: row.int(1), expiresAt: row.int(2), usesLeft: row.int(3))
        }
    }

    /// Returns reports with their numbers, newest first.
    ///
    /// - Parameter isOpen: Whether resolved reports are omitted.
    package func reports(isOpen: Bool, before number: Int64, limit: Int) throws(StorageError) -> [(number: Int64, report: ReportRow)] {
        try self.connection.statement(isOpen ? OperatorQuery.reports : .allReports).with(number, Int64(limit)).all { row in
            let reporter = UserKey(row.int(1))
            let (reason, text, time) = (row.text(5), row.text(7), row.int(6))
            let conversation = row.isNull(3) ? nil : ConversationKey(row.int(3))
            let seq = row.isNull(4) ? nil : row.int(4)
            var report: ReportRow
            if let conversation, seq == nil {
                report = ReportRow(reporter: reporter, conversation: conversation, reason: reason, text: text, at: time)
            } else {
                let event = conversation.flatMap { key in seq.map { EventAddress(key, $0) } }
                report = ReportRow(
                    reporter: reporter, subject: UserKey(row.int(2)), event: event, reason: reason, text: text, at: time)
            }
            report.resolvedAt = row.int(8)
            return (row.int(0), report)
        }
    }

    /// Returns the statistics of the server by name: numbers of rows, and sizes in bytes. Reads
    /// whole tables, which is slow in a large database.
    package func statistics() throws(StorageError) -> [(name: String, count: Int64)] {
        var counts: [(String, Int64)] = []
        for (name, sql) in [
            ("accounts", "SELECT count(*) FROM account WHERE state = 0"), ("devices", "SELECT count(*) FROM device"),
            ("conversations", "SELECT count(*) FROM conversation"), ("events", "SELECT count(*) FROM event"),
            ("blobs", "SELECT count(*) FROM blob"), ("blob bytes", "SELECT coalesce(sum(size), 0) FROM blob"),
            ("open reports", "SELECT count(*) FROM report WHERE resolved_at = 0"), ("invitations", "SELECT count(*) FROM invitation"),
            ("database bytes", "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"),
        ] {
            counts.append((name, try self.connection.prepare(sql).number()))
        }
        return counts
    }

    /// Checks the integrity of the whole database. Returns at most 100 faults.
    package func check() throws(StorageError) -> [String] {
        let faults = try self.connection.prepare("PRAGMA integrity_check(100)").all { $0.text(0) }.filter { $0 != "ok" }
        guard faults.isEmpty else { return faults }
        // SQLite does not know that `event_recent` and `event_place` are an index of `event`.
        return try self.connection.prepare(
            "SELECT 'event ' || e.id || ' is not found by its id' FROM event e WHERE \(PlacedEvents.place("e.id")) IS NOT e.place LIMIT 100"
        ).all { $0.text(0) }
    }

    /// Writes a consistent copy of the database to a new file, with access for its owner only. The
    /// server can run at the same time. A failed call leaves no file.
    package func backUp(to path: String) throws(StorageError) {
        try ChatFolder.createEmptyFile(path)
        do throws(StorageError) {
            let isReader = try self.connection.prepare("PRAGMA query_only").number() != 0
            try self.connection.execute("PRAGMA query_only = 0")
            // A reader must become read-only again, even after a failure.
            defer { if isReader { try? self.connection.execute("PRAGMA query_only = 1") } }
            let statement = try self.connection.prepare("VACUUM INTO ?1")
            statement.bind(1, path)
            try statement.run()
        } catch {
            ChatFolder.removeFile(path)
            throw error
        }
    }
}

extension SQLiteStorage {
    /// Records that a report was resolved.
    ///
    /// - Returns: False if the report does not exist or was already resolved.
    package func resolveReport(_ number: Int64, at time: Int64) throws(StorageError) -> Bool {
        try self.writeOutsideOfBatch("resolveReport") { () throws(StorageError) in
            try self.connection.statement(OperatorQuery.resolveReport).with(number, time).run()
            return self.connection.changedRows > 0
        }
    }

    /// Rewrites the database without unused space. Batches wait until the method returns.
    package func vacuum() throws(StorageError) {
        try self.writeOutsideOfBatch("vacuum") { () throws(StorageError) in
            try self.connection.execute("VACUUM")
            try self.connection.checkpoint()
        }
    }
}
