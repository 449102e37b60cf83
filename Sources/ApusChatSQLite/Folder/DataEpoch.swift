import ApusChatStorage

/// The data epoch: a random text that is renewed when the data does not continue the state that
/// clients have seen.
///
/// The file `chat.place` beside the database contains a random token, which is also in the
/// database, and the number of a committed batch. The epoch is renewed in each of these cases:
/// - the file is missing or has another token, because the database was moved without the file;
/// - the inode of the database has changed, because the folder was copied or the database was
///   replaced;
/// - the database has fewer batches than the file records, because an older state was restored.
enum DataEpoch {
    private static let file = "chat.place"

    private struct Found {
        let commit: Int64
        let place: String
        let inode: Int64
    }

    /// Creates the epoch of a new database, and renews the epoch of a copied one.
    static func settle(_ connection: SQLiteConnection, in folder: ChatFolder, makeToken: () -> String) throws(StorageError) {
        let found = try connection.prepare("SELECT last_commit, place, inode FROM meta WHERE id = 1").first {
            Found(commit: $0.int(0), place: $0.text(1), inode: $0.int(2))
        }
        guard let found else {
            try connection.execute("INSERT INTO meta (id, epoch, last_commit, place, inode) VALUES (1, '', 0, '', 0)")
            return try self.renew(connection, in: folder, makeToken: makeToken)
        }
        let noted = folder.text(of: self.file)?.split(separator: " ") ?? []
        let inode = try folder.databaseInode()
        guard noted.count == 2, String(noted[0]) == found.place, let commit = Int64(noted[1]), commit <= found.commit, inode == found.inode
        else { return try self.renew(connection, in: folder, makeToken: makeToken) }
    }

    static func renew(_ connection: SQLiteConnection, in folder: ChatFolder, makeToken: () -> String) throws(StorageError) {
        let place = makeToken()
        let statement = try connection.prepare("UPDATE meta SET epoch = ?1, place = ?2, inode = ?3 WHERE id = 1 RETURNING last_commit")
        statement.bind(1, makeToken())
        statement.bind(2, place)
        statement.bind(3, try folder.databaseInode())
        let commit = try statement.number()
        try folder.write("\(place) \(commit)", to: self.file, isSynced: true)
    }

    /// Records the number of a committed batch. Called after a checkpoint and when the storage is
    /// released. A failure is ignored, because an outdated number only weakens the detection.
    static func note(commit: Int64, in folder: ChatFolder) {
        guard let place = folder.text(of: self.file)?.split(separator: " ").first else { return }
        try? folder.write("\(place) \(commit)", to: self.file, isSynced: false)
    }
}
