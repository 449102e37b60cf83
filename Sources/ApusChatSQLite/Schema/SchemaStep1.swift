/// The first version of the schema.
///
/// - A conversation has a consecutive number, its slot. The id of an event is `slot << 32 | seq`.
///   Ids are therefore unique, and the log of a conversation is one range of ids.
/// - `counter` contains the numbers of a conversation, most of which change with every message.
///   They are separate from the title, the description and the settings.
/// - `event.n` is the number of messages up to and including the event. It is also set for changes,
///   so that the `seq` of an ordinal is found by bisection.
/// - `event_client` begins with the client's id. Clients use ids that are ordered by time, so a
///   batch writes to the end of the index instead of to one page for each conversation.
enum SchemaStep1 {
    static let script = """
        CREATE TABLE meta (
            id INTEGER PRIMARY KEY CHECK (id = 1), epoch TEXT NOT NULL, last_commit INTEGER NOT NULL,
            place TEXT NOT NULL, inode INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE conversation (
            slot INTEGER PRIMARY KEY, conversation INTEGER NOT NULL UNIQUE, kind INTEGER NOT NULL, low INTEGER, high INTEGER,
            created_at INTEGER NOT NULL, title TEXT NOT NULL, about TEXT NOT NULL, avatar TEXT, settings TEXT NOT NULL
        ) STRICT;
        CREATE UNIQUE INDEX conversation_pair ON conversation (low, high) WHERE low IS NOT NULL;
        CREATE TABLE counter (
            slot INTEGER PRIMARY KEY, last_seq INTEGER NOT NULL, last_n INTEGER NOT NULL, last_at INTEGER NOT NULL,
            preview_seq INTEGER NOT NULL, member_count INTEGER NOT NULL, pin_count INTEGER NOT NULL, link_count INTEGER NOT NULL,
            members_version INTEGER NOT NULL, epoch INTEGER NOT NULL, changed INTEGER NOT NULL, kept_seq INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE member (
            slot INTEGER NOT NULL, user INTEGER NOT NULL, conversation INTEGER NOT NULL, role INTEGER NOT NULL,
            state INTEGER NOT NULL, since INTEGER NOT NULL, min_seq INTEGER NOT NULL, left_seq INTEGER NOT NULL,
            floor_n INTEGER NOT NULL, read_n INTEGER NOT NULL, skipped INTEGER NOT NULL, invited_by INTEGER NOT NULL,
            silenced_until INTEGER NOT NULL, last_sent_at INTEGER NOT NULL, blocks_peer INTEGER NOT NULL,
            is_gone INTEGER NOT NULL, muted_until INTEGER NOT NULL, pinned_at INTEGER NOT NULL, is_archived INTEGER NOT NULL,
            is_marked_unread INTEGER NOT NULL, folders INTEGER NOT NULL, draft_seq INTEGER NOT NULL, changed INTEGER NOT NULL,
            PRIMARY KEY (slot, user)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX member_user ON member (user, conversation, is_gone, pinned_at, state);
        CREATE INDEX member_state ON member (slot, state, user);
        CREATE INDEX member_rank ON member (slot, state, role DESC, user);
        CREATE TABLE event (
            id INTEGER PRIMARY KEY, n INTEGER NOT NULL, is_message INTEGER NOT NULL, sender INTEGER NOT NULL, at INTEGER NOT NULL,
            kind TEXT NOT NULL, client_id TEXT, hash BLOB, ref INTEGER, thread INTEGER, state INTEGER NOT NULL, body TEXT NOT NULL,
            expires_at INTEGER, mentions TEXT, mentions_all INTEGER NOT NULL DEFAULT 0, original TEXT NOT NULL DEFAULT '',
            edited_at INTEGER NOT NULL DEFAULT 0, is_pinned INTEGER NOT NULL DEFAULT 0, reactions TEXT, votes TEXT,
            allows_many_votes INTEGER NOT NULL DEFAULT 0, hides_voters INTEGER NOT NULL DEFAULT 0, is_closed INTEGER NOT NULL DEFAULT 0,
            reply_count INTEGER NOT NULL DEFAULT 0, last_reply INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE UNIQUE INDEX event_client ON event (client_id, sender, id >> 32) WHERE client_id IS NOT NULL;
        CREATE INDEX event_edit ON event (ref) WHERE kind = 'edit';
        CREATE INDEX event_thread ON event (thread) WHERE thread IS NOT NULL;
        CREATE INDEX event_expiry ON event (expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE pin (event INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE annotation (
            user INTEGER NOT NULL, event INTEGER NOT NULL, n INTEGER NOT NULL, is_hidden INTEGER NOT NULL,
            reactions TEXT, votes INTEGER NOT NULL, PRIMARY KEY (user, event)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX annotation_event ON annotation (event);
        -- The user 0 stands for all members.
        CREATE TABLE mention (
            user INTEGER NOT NULL, slot INTEGER NOT NULL, n INTEGER NOT NULL, event INTEGER NOT NULL, sender INTEGER NOT NULL,
            PRIMARY KEY (user, slot, n)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE request (
            user INTEGER NOT NULL, id TEXT NOT NULL, hash BLOB NOT NULL, at INTEGER NOT NULL, conversation INTEGER NOT NULL,
            seq INTEGER NOT NULL, n INTEGER NOT NULL, answer_at INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (user, id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX request_at ON request (at);
        CREATE TABLE account (
            user INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, nickname TEXT NOT NULL, state INTEGER NOT NULL,
            self_conversation INTEGER NOT NULL, privacy TEXT NOT NULL, about TEXT NOT NULL, status_text TEXT NOT NULL, avatar TEXT, folders TEXT,
            invitations_today INTEGER NOT NULL, invitation_day INTEGER NOT NULL, changed INTEGER NOT NULL
        ) STRICT;
        CREATE VIRTUAL TABLE name_search USING fts5 (name, nickname, content = '', tokenize = 'ascii', prefix = '4');
        CREATE TABLE contact (
            owner INTEGER NOT NULL, peer INTEGER NOT NULL, relation INTEGER NOT NULL, is_blocked INTEGER NOT NULL,
            alias TEXT NOT NULL, changed INTEGER NOT NULL, PRIMARY KEY (owner, peer)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE link (
            id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, conversation INTEGER NOT NULL, creator INTEGER NOT NULL,
            created_at INTEGER NOT NULL, role INTEGER NOT NULL, used INTEGER NOT NULL, expires_at INTEGER NOT NULL, uses_left INTEGER NOT NULL,
            needs_approval INTEGER NOT NULL, is_revoked INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX link_conversation ON link (conversation, created_at DESC, code);
        CREATE TABLE blob (
            id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, size INTEGER NOT NULL DEFAULT 0, type TEXT NOT NULL DEFAULT '',
            width INTEGER NOT NULL DEFAULT 0, height INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE upload (blob INTEGER NOT NULL, user INTEGER NOT NULL, PRIMARY KEY (blob, user)) STRICT, WITHOUT ROWID;
        CREATE TABLE blob_ref (blob INTEGER NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (blob, event)) STRICT, WITHOUT ROWID;
        CREATE INDEX blob_ref_event ON blob_ref (event);
        CREATE TABLE report (
            id INTEGER PRIMARY KEY, reporter INTEGER NOT NULL, subject INTEGER NOT NULL, conversation INTEGER, seq INTEGER,
            reason TEXT NOT NULL, at INTEGER NOT NULL
        ) STRICT;
        -- For the accounts service and for end-to-end encryption (RFC 9420).
        CREATE TABLE device (
            device INTEGER PRIMARY KEY, user INTEGER NOT NULL, name TEXT NOT NULL, created_at INTEGER NOT NULL,
            seen_at INTEGER NOT NULL, token_family TEXT, push TEXT, identity_key BLOB
        ) STRICT;
        CREATE INDEX device_user ON device (user);
        CREATE TABLE key_package (
            id INTEGER PRIMARY KEY, device INTEGER NOT NULL, package BLOB NOT NULL, is_last_resort INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX key_package_device ON key_package (device);
        CREATE TABLE audit (
            id INTEGER PRIMARY KEY, at INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL, subject TEXT NOT NULL
        ) STRICT;
        """
}
