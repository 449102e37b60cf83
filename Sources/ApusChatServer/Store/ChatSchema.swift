import GRDB

/// The tables and their migrations, each in one transaction. A released migration must not be
/// changed.
///
/// Tables are `WITHOUT ROWID` if their rows are read by primary key.
enum ChatSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: users, conversations, events, blobs") { db in
            try db.execute(sql: version1)
        }
        migrator.registerMigration("2: how much a user has uploaded") { db in
            try db.execute(sql: version2)
        }
        migrator.registerMigration("3: users found by any part of their names") { db in
            try db.execute(sql: "DROP INDEX user_display; CREATE INDEX user_search ON user (folded, display_folded)")
            let users = try Row.fetchCursor(db, sql: "SELECT id, display, display_folded FROM user")
            var changed: [(id: String, folded: String)] = []
            while let row = try users.next() {
                let folded = UserSearch.folded(row["display"])
                if folded != row["display_folded"] { changed.append((row["id"], folded)) }
            }
            for user in changed {
                try db.execute(sql: "UPDATE user SET display_folded = ? WHERE id = ?", arguments: [user.folded, user.id])
            }
        }
        return migrator
    }

    /// Migrates the file to the current schema.
    /// - Throws: `ChatStoreError` `newerSchema` for a file written by a later release, which may
    ///   contain unknown data.
    static func migrate(_ writer: any DatabaseWriter) throws {
        let migrator = Self.migrator
        guard try writer.read({ db in try !migrator.hasBeenSuperseded(db) }) else {
            throw ChatStoreError(
                .newerSchema, message: "the database was written by a later release; use that release, or restore a backup")
        }
        try migrator.migrate(writer)
    }

    private static let version2 = """
        ALTER TABLE user ADD COLUMN blob_bytes INTEGER NOT NULL DEFAULT 0;
        UPDATE user SET blob_bytes = (
            SELECT coalesce(sum(b.size), 0) FROM blob_owner o JOIN blob b ON b.sha256 = o.blob WHERE o.user = user.id);
        """

    private static let version1 = """
        CREATE TABLE user (
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            folded TEXT NOT NULL UNIQUE,
            display TEXT NOT NULL,
            display_folded TEXT NOT NULL,
            password TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX user_display ON user (display_folded);

        CREATE TABLE device (
            id TEXT PRIMARY KEY NOT NULL,
            user TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
            label TEXT NOT NULL,
            token_hash BLOB NOT NULL UNIQUE,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX device_user ON device (user);
        CREATE INDEX device_expires ON device (expires_at);

        CREATE TABLE conversation (
            id TEXT PRIMARY KEY NOT NULL,
            kind TEXT NOT NULL,
            low TEXT,
            high TEXT,
            title TEXT,
            last_seq INTEGER NOT NULL DEFAULT 0,
            last_n INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            touched_at INTEGER NOT NULL,
            UNIQUE (low, high)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE member (
            conversation TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
            user TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
            role TEXT NOT NULL,
            joined_seq INTEGER NOT NULL,
            min_seq INTEGER NOT NULL,
            floor_n INTEGER NOT NULL,
            read_n INTEGER NOT NULL,
            left_at INTEGER,
            PRIMARY KEY (conversation, user)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX member_user ON member (user);

        CREATE TABLE event (
            conversation TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            n INTEGER,
            sender TEXT NOT NULL,
            client_id TEXT NOT NULL,
            at INTEGER NOT NULL,
            kind TEXT NOT NULL,
            ref INTEGER,
            body TEXT NOT NULL,
            PRIMARY KEY (conversation, seq),
            UNIQUE (sender, client_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE blob (
            sha256 TEXT PRIMARY KEY NOT NULL,
            size INTEGER NOT NULL,
            type TEXT NOT NULL,
            width INTEGER,
            height INTEGER,
            created_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE blob_owner (
            blob TEXT NOT NULL REFERENCES blob (sha256) ON DELETE CASCADE,
            user TEXT NOT NULL REFERENCES user (id) ON DELETE CASCADE,
            PRIMARY KEY (blob, user)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE blob_ref (
            blob TEXT NOT NULL REFERENCES blob (sha256) ON DELETE CASCADE,
            conversation TEXT NOT NULL REFERENCES conversation (id) ON DELETE CASCADE,
            seq INTEGER NOT NULL,
            PRIMARY KEY (blob, conversation, seq)
        ) STRICT, WITHOUT ROWID;
        """
}
