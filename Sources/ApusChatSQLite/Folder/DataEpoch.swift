import ApusChatStorage

/// The data epoch: a random text that is renewed when the data is no longer the continuation of
/// what clients have seen.
///
/// A file `chat.place` beside the database has a random token, which the database has too, and the
/// number of a committed batch. The epoch is renewed if
/// - the file is missing or has another token: the database came here alone,
/// - the database has another inode than it had: the folder was copied or the file replaced,
/// - the database has fewer batches than the file says: an older state was written into the file.
enum DataEpoch {
    private static let file = "chat.place"

    private struct Found {
        let commit: Int64
        let place: String
        let inode: Int64
    }

    /// Creates the epoch of a new database, and renews that of one which came from elsewhere.
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

    /// Notes a committed batch, from time to time. A failure is ignored: an old number only makes
    /// the detection weaker.
    static func note(commit: Int64, in folder: ChatFolder) {
        guard let place = folder.text(of: self.file)?.split(separator: " ").first else { return }
        try? folder.write("\(place) \(commit)", to: self.file, isSynced: false)
    }
}
