/// The second version of the schema: sessions, and the accounting of uploads.
///
/// - The row of a device represents its session. Removing the row ends the session.
/// - `quota` contains the total size of the uploads of a user, so that a new upload does not have
///   to sum them.
enum SchemaStep2 {
    static let script = """
        ALTER TABLE device DROP COLUMN token_family;
        ALTER TABLE device ADD COLUMN platform TEXT NOT NULL DEFAULT '';
        ALTER TABLE device ADD COLUMN capabilities TEXT;
        ALTER TABLE device ADD COLUMN address TEXT NOT NULL DEFAULT '';
        ALTER TABLE device ADD COLUMN generation INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE device ADD COLUMN is_confirmed INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE device ADD COLUMN rotated_at INTEGER NOT NULL DEFAULT 0;
        DROP INDEX device_user;
        CREATE INDEX device_user ON device (user, seen_at);
        CREATE TABLE credential (
            user INTEGER PRIMARY KEY, password TEXT NOT NULL, password_changed_at INTEGER NOT NULL,
            totp_secret BLOB, totp_state INTEGER NOT NULL, totp_step INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE code (
            user INTEGER NOT NULL, hash BLOB NOT NULL, purpose INTEGER NOT NULL, expires_at INTEGER NOT NULL, PRIMARY KEY (user, hash)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE invitation (
            hash BLOB PRIMARY KEY, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, uses_left INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE quota (user INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;
        CREATE INDEX account_avatar ON account (avatar) WHERE avatar IS NOT NULL;
        CREATE INDEX conversation_avatar ON conversation (avatar) WHERE avatar IS NOT NULL;
        """
}
