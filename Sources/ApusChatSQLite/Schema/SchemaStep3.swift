/// The third version of the schema: calls, deleted conversations, bans with an end, scheduled
/// messages, and the erasure of accounts.
///
/// `member_first` finds the members whose visible range begins after an event. Members who see the
/// whole log, which are the majority, are not in this index.
enum SchemaStep3 {
    static let script = """
        ALTER TABLE counter ADD COLUMN call_seq INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE counter ADD COLUMN is_deleted INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX counter_deleted ON counter (slot) WHERE is_deleted = 1 AND member_count > 0;
        ALTER TABLE member ADD COLUMN banned_until INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX member_first ON member (slot, min_seq, user) WHERE min_seq > 1 AND state = 1;
        ALTER TABLE account ADD COLUMN is_erased INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX account_deleted ON account (user) WHERE state = 2 AND is_erased = 0;
        CREATE TABLE scheduled (
            user INTEGER NOT NULL, id TEXT NOT NULL, conversation INTEGER NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
            ref INTEGER NOT NULL, thread INTEGER NOT NULL, is_silent INTEGER NOT NULL, send_at INTEGER NOT NULL, hash BLOB NOT NULL,
            failure TEXT NOT NULL, PRIMARY KEY (user, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX scheduled_due ON scheduled (send_at) WHERE failure = '';
        """
}
