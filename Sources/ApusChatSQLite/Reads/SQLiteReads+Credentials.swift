package import ApusChatProtocol
package import ApusChatStorage

extension SQLiteReads: CredentialReads {
    package func credential(of user: UserKey) throws(StorageError) -> CredentialRow? {
        try self.connection.statement(CredentialQuery.credential).with(user.rawValue).first { CredentialColumns.row($0, of: user) }
    }

    package func device(_ key: DeviceKey) throws(StorageError) -> DeviceRow? {
        try self.connection.statement(CredentialQuery.device).with(key.rawValue).first(DeviceColumns.row)
    }

    package func devices(of user: UserKey, limit: Int) throws(StorageError) -> [DeviceRow] {
        try self.connection.statement(CredentialQuery.devices).with(user.rawValue, Int64(limit)).all(DeviceColumns.row)
    }

    package func pushDevices(of user: UserKey, limit: Int) throws(StorageError) -> [PushDeviceRow] {
        try self.connection.statement(CredentialQuery.pushesOfUser).with(user.rawValue, Int64(limit)).all(Self.pushDevice)
    }

    package func pushDevices(after cursor: DeviceKey, limit: Int) throws(StorageError) -> [PushDeviceRow] {
        try self.connection.statement(CredentialQuery.pushes).with(cursor.rawValue, Int64(limit)).all(Self.pushDevice)
    }

    private static func pushDevice(_ row: SQLiteStatement) -> PushDeviceRow {
        PushDeviceRow(key: DeviceKey(row.int(0)), user: UserKey(row.int(1)), subscription: row.text(2))
    }

    package func code(_ hash: [UInt8], of user: UserKey) throws(StorageError) -> CodeRow? {
        let statement = try self.connection.statement(CredentialQuery.code).with(user.rawValue)
        statement.bind(2, bytes: hash)
        return try statement.first { row in
            // A code whose purpose a later version defines is ignored.
            UInt8(exactly: row.int(0)).flatMap(CodeRow.Purpose.init).map {
                CodeRow(user: user, hash: hash, purpose: $0, expiresAt: row.int(1))
            }
        } ?? nil
    }

    package func invitation(_ hash: [UInt8]) throws(StorageError) -> InvitationRow? {
        let statement = try self.connection.statement(CredentialQuery.invitation)
        statement.bind(1, bytes: hash)
        return try statement.first { InvitationRow(hash: hash, createdAt: $0.int(0), expiresAt: $0.int(1), usesLeft: $0.int(2)) }
    }

    package func blob(_ id: BlobID) throws(StorageError) -> BlobRow? {
        let statement = try self.connection.statement(CredentialQuery.blob)
        statement.bind(1, id.rawValue)
        return try statement.first {
            BlobRow(
                id: id, size: $0.count(0), type: $0.text(1), width: $0.count(2), height: $0.count(3), createdAt: $0.int(4),
                duration: $0.count(5), thumb: $0.text(6))
        }
    }

    package func uploadedBytes(of user: UserKey) throws(StorageError) -> Int64 {
        try self.connection.statement(CredentialQuery.quota).with(user.rawValue).first { $0.count(0) } ?? 0
    }

    /// Examines at most `limit` rows for each page, so that no page reads the whole table.
    package func uploads(of user: UserKey, after cursor: Int64, limit: Int) throws(StorageError) -> UploadPage {
        let last = Self.end(after: cursor, limit)
        let blobs = try self.connection.statement(CredentialQuery.uploads).with(user.rawValue, cursor, last).all { row in
            BlobID(row.text(0)).map {
                BlobRow(
                    id: $0, size: row.count(1), type: row.text(2), width: row.count(3), height: row.count(4), createdAt: row.int(5),
                    duration: row.count(6), thumb: row.text(7))
            }
        }
        return UploadPage(blobs: blobs.compactMap(\.self), next: try self.blobCursor(after: last))
    }

    /// Examines at most `limit` rows for each page, so that no page reads the whole table.
    package func orphans(before time: Int64, after cursor: Int64, limit: Int) throws(StorageError) -> OrphanPage {
        let last = Self.end(after: cursor, limit)
        let blobs = try self.connection.statement(CredentialQuery.orphans).with(time, cursor, last).all { BlobID($0.text(0)) }
        return OrphanPage(blobs: blobs.compactMap(\.self), next: try self.blobCursor(after: last))
    }

    /// Returns the last row number of a page of blobs.
    private static func end(after cursor: Int64, _ limit: Int) -> Int64 {
        let (end, isOverflown) = cursor.addingReportingOverflow(Int64(limit))
        return isOverflown ? .max : end
    }

    /// Returns the cursor of the page with the next blob; nil after the last blob. A page skips
    /// unused row numbers, because a damaged row can have any number.
    private func blobCursor(after last: Int64) throws(StorageError) -> Int64? {
        try self.connection.statement(CredentialQuery.nextBlob).with(last).first { $0.int(0) - 1 }
    }
}
