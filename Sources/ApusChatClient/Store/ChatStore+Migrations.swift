import GRDB

extension ChatStore {
    /// The migrations of the schema, each in one transaction. A migration is never changed after
    /// its release.
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { try $0.execute(sql: Self.schema1) }
        migrator.registerMigration("2") { try $0.execute(sql: Self.schema2) }
        migrator.registerMigration("3") { try $0.execute(sql: "UPDATE event SET shown = 0 WHERE kind = 'hidden'") }
        migrator.registerMigration("4") { try $0.execute(sql: Self.schema4) }
        migrator.registerMigration("5") { try $0.execute(sql: Self.schema5) }
        return migrator
    }

    // A conversation is stored as the number of its id. `value` is the JSON text of the object in
    // the protocol.
    private static let schema1 = """
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE user (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE head (conversation INTEGER PRIMARY KEY, value TEXT NOT NULL, unsent_read INTEGER);
        CREATE TABLE cursor (conversation INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
        -- `as_of`: reactions up to this seq are counted in the value. `shown`: whether it is a row of a thread.
        CREATE TABLE event (
            key INTEGER PRIMARY KEY, conversation INTEGER NOT NULL, seq INTEGER NOT NULL, ref INTEGER, shown INTEGER NOT NULL,
            as_of INTEGER NOT NULL, sender TEXT, kind TEXT NOT NULL, at INTEGER NOT NULL, value TEXT NOT NULL,
            UNIQUE (conversation, seq)
        );
        CREATE INDEX event_shown ON event (conversation, seq) WHERE shown = 1;
        CREATE INDEX event_ref ON event (conversation, ref) WHERE ref IS NOT NULL;
        CREATE TABLE mine (
            conversation INTEGER NOT NULL, seq INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (conversation, seq)
        ) WITHOUT ROWID;
        CREATE TABLE gap (
            conversation INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, PRIMARY KEY (conversation, first)
        ) WITHOUT ROWID;
        CREATE TABLE peer (
            conversation INTEGER NOT NULL, user TEXT NOT NULL, read INTEGER NOT NULL, received INTEGER NOT NULL,
            PRIMARY KEY (conversation, user)
        ) WITHOUT ROWID;
        CREATE TABLE draft (
            conversation INTEGER PRIMARY KEY, text TEXT NOT NULL, ref INTEGER, at INTEGER NOT NULL, sent INTEGER NOT NULL
        );
        CREATE TABLE outbox (
            position INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, conversation INTEGER NOT NULL, value TEXT NOT NULL,
            at INTEGER NOT NULL, state TEXT NOT NULL, error TEXT, seq INTEGER, n INTEGER,
            file TEXT, type TEXT, size INTEGER, location TEXT
        );
        CREATE INDEX outbox_conversation ON outbox (conversation, position);
        -- Without a copy of the texts: they are in `event`, and a removal repeats them.
        CREATE VIRTUAL TABLE search USING fts5(text, content='', tokenize='trigram');
        CREATE VIRTUAL TABLE term USING fts5vocab('search', 'row');
        """

    // Adds threads, expiring messages and contacts.
    private static let schema2 = """
        ALTER TABLE event ADD COLUMN thread INTEGER;
        ALTER TABLE event ADD COLUMN expires INTEGER;
        UPDATE event SET thread = json_extract(value, '$.thread'), expires = json_extract(value, '$.expires_at')
            WHERE value LIKE '%"thread"%' OR value LIKE '%"expires_at"%';
        CREATE INDEX event_thread ON event (conversation, thread, seq) WHERE thread IS NOT NULL;
        CREATE INDEX event_expires ON event (expires) WHERE expires IS NOT NULL;
        CREATE TABLE contact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        """

    // Sends acknowledged messages again. Earlier releases kept those that a restored server lacked.
    private static let schema4 = "UPDATE outbox SET state = 'queued', seq = NULL, n = NULL WHERE state = 'sent'"

    // Verifies the messages that unsent ones refer to after a restore of the server. `cited_ref`
    // and `cited_thread`: `ChatEvent.identity` of the messages at `ref` and `thread` before it.
    private static let schema5 = """
        ALTER TABLE outbox ADD COLUMN unverified INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE outbox ADD COLUMN cited_ref TEXT;
        ALTER TABLE outbox ADD COLUMN cited_thread TEXT;
        """
}
