/// The fourth version of the schema: events are stored in the order in which they were committed.
///
/// A batch contains events of many conversations. In the earlier order, by their ids, each event
/// changed a different page and often split it. Now a batch fills the last pages of the table, and
/// adds one short entry for each event to `event_id`. Recently stored events of all conversations,
/// which most reads concern, are on adjacent pages.
enum SchemaStep4 {
    private static let columns = """
        id, n, is_message, sender, at, kind, client_id, hash, ref, thread, state, body, expires_at, mentions, mentions_all,
        original, edited_at, is_pinned, reactions, votes, allows_many_votes, hides_voters, is_closed, reply_count, last_reply
        """

    static let script = """
        DROP INDEX event_client;
        DROP INDEX event_edit;
        DROP INDEX event_thread;
        DROP INDEX event_expiry;
        ALTER TABLE event RENAME TO event_by_id;
        CREATE TABLE event (
            place INTEGER PRIMARY KEY, id INTEGER NOT NULL, n INTEGER NOT NULL, is_message INTEGER NOT NULL, sender INTEGER NOT NULL,
            at INTEGER NOT NULL, kind TEXT NOT NULL, client_id TEXT, hash BLOB, ref INTEGER, thread INTEGER, state INTEGER NOT NULL,
            body TEXT NOT NULL, expires_at INTEGER, mentions TEXT, mentions_all INTEGER NOT NULL DEFAULT 0,
            original TEXT NOT NULL DEFAULT '', edited_at INTEGER NOT NULL DEFAULT 0, is_pinned INTEGER NOT NULL DEFAULT 0,
            reactions TEXT, votes TEXT, allows_many_votes INTEGER NOT NULL DEFAULT 0, hides_voters INTEGER NOT NULL DEFAULT 0,
            is_closed INTEGER NOT NULL DEFAULT 0, reply_count INTEGER NOT NULL DEFAULT 0, last_reply INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        INSERT INTO event (\(Self.columns)) SELECT \(Self.columns) FROM event_by_id ORDER BY at, id;
        DROP TABLE event_by_id;
        CREATE UNIQUE INDEX event_id ON event (id);
        CREATE UNIQUE INDEX event_client ON event (client_id, sender, id >> 32) WHERE client_id IS NOT NULL;
        CREATE INDEX event_edit ON event (ref, id) WHERE kind = 'edit';
        CREATE INDEX event_thread ON event (thread, id) WHERE thread IS NOT NULL;
        CREATE INDEX event_expiry ON event (expires_at, id) WHERE expires_at IS NOT NULL;
        """
}
