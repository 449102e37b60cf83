import GRDB

extension ChatStore {
    /// The schema migrations, each in one transaction. A released migration must not be changed.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                    CREATE TABLE user (id TEXT PRIMARY KEY, name TEXT NOT NULL, display TEXT NOT NULL) WITHOUT ROWID;
                    CREATE TABLE conversation (
                        id TEXT PRIMARY KEY, kind TEXT NOT NULL, title TEXT,
                        head_seq INTEGER NOT NULL, head_n INTEGER NOT NULL,
                        read_n INTEGER NOT NULL, read_sent INTEGER NOT NULL,
                        min_seq INTEGER NOT NULL, updated_at INTEGER NOT NULL,
                        cursor INTEGER NOT NULL DEFAULT 0, primed INTEGER NOT NULL DEFAULT 0
                    ) WITHOUT ROWID;
                    CREATE TABLE member (
                        conversation TEXT NOT NULL, user TEXT NOT NULL, role TEXT NOT NULL, read_n INTEGER NOT NULL,
                        PRIMARY KEY (conversation, user)
                    ) WITHOUT ROWID;
                    CREATE TABLE event (
                        conversation TEXT NOT NULL, seq INTEGER NOT NULL, n INTEGER, sender TEXT NOT NULL, client_id TEXT NOT NULL,
                        at INTEGER NOT NULL, kind TEXT NOT NULL, ref INTEGER, body TEXT NOT NULL,
                        PRIMARY KEY (conversation, seq)
                    ) WITHOUT ROWID;
                    CREATE TABLE gap (
                        conversation TEXT NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
                        PRIMARY KEY (conversation, first)
                    ) WITHOUT ROWID;
                    CREATE TABLE outbox (
                        position INTEGER PRIMARY KEY AUTOINCREMENT, client_id TEXT NOT NULL UNIQUE, conversation TEXT NOT NULL,
                        kind TEXT NOT NULL, body TEXT NOT NULL, ref INTEGER, at INTEGER NOT NULL,
                        state TEXT NOT NULL, refusal TEXT, seq INTEGER, n INTEGER, attachment_type TEXT, attachment BLOB
                    );
                    CREATE INDEX outbox_conversation ON outbox (conversation, position);
                    """)
        }
        return migrator
    }
}
