CREATE TABLE schema_version (version INTEGER PRIMARY KEY) STRICT;
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
INSERT INTO schema_version VALUES (1);
INSERT INTO meta VALUES (1, 'epoch', 3, 'place', 0);
INSERT INTO conversation VALUES (1, 7, 3, NULL, NULL, 1, 'Title', '', NULL, '{"write":"members","invite":"members","manage":"admins","pin":"admins","mention_all":"admins","join":"closed","listed":false,"history":"all","slow":0,"expire":0,"receipts":true}');
INSERT INTO counter VALUES (1, 2, 2, 2, 2, 2, 0, 0, 0, 0, 3, 0);
INSERT INTO member (slot, user, conversation, role, state, since, min_seq, left_seq, floor_n, read_n, skipped, invited_by, silenced_until, last_sent_at, blocks_peer, is_gone, muted_until, pinned_at, is_archived, is_marked_unread, folders, draft_seq, changed) VALUES (1, 1, 7, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO member (slot, user, conversation, role, state, since, min_seq, left_seq, floor_n, read_n, skipped, invited_by, silenced_until, last_sent_at, blocks_peer, is_gone, muted_until, pinned_at, is_archived, is_marked_unread, folders, draft_seq, changed) VALUES (1, 2, 7, 3, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO conversation VALUES (2, 1001, 1, NULL, NULL, 1, '', '', NULL, '{"write":"members","invite":"members","manage":"admins","pin":"admins","mention_all":"admins","join":"closed","listed":false,"history":"all","slow":0,"expire":0,"receipts":true}');
INSERT INTO counter VALUES (2, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0);
INSERT INTO member (slot, user, conversation, role, state, since, min_seq, left_seq, floor_n, read_n, skipped, invited_by, silenced_until, last_sent_at, blocks_peer, is_gone, muted_until, pinned_at, is_archived, is_marked_unread, folders, draft_seq, changed) VALUES (2, 1, 1001, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO account VALUES (1, 'ann', 'ANN', 0, 1001, '{"messages":"contacts"}', '', '', NULL, NULL, 0, 0, 1);
INSERT INTO name_search (rowid, name, nickname) VALUES (1, '002p0032 00320032 0032', '002p0032 00320032 0032');
INSERT INTO conversation VALUES (3, 1002, 1, NULL, NULL, 1, '', '', NULL, '{"write":"members","invite":"members","manage":"admins","pin":"admins","mention_all":"admins","join":"closed","listed":false,"history":"all","slow":0,"expire":0,"receipts":true}');
INSERT INTO counter VALUES (3, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0);
INSERT INTO member (slot, user, conversation, role, state, since, min_seq, left_seq, floor_n, read_n, skipped, invited_by, silenced_until, last_sent_at, blocks_peer, is_gone, muted_until, pinned_at, is_archived, is_marked_unread, folders, draft_seq, changed) VALUES (3, 2, 1002, 5, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO account VALUES (2, 'bob', 'BOB', 0, 1002, '{"messages":"contacts"}', '', '', NULL, NULL, 0, 0, 1);
INSERT INTO name_search (rowid, name, nickname) VALUES (2, '002q0033 0033002q 002q', '002q0033 0033002q 002q');
INSERT INTO event (id, n, is_message, sender, at, kind, client_id, hash, state, body, mentions) VALUES (4294967297, 1, 1, 1, 1, 'text', 'id-1', zeroblob(32), 0, '{"text":"hello"}', '2');
INSERT INTO event (id, n, is_message, sender, at, kind, state, body) VALUES (4294967298, 2, 1, 1, 2, 'text', 0, '{"text":"hidden"}');
INSERT INTO mention VALUES (2, 1, 1, 4294967297, 1);
INSERT INTO annotation VALUES (2, 4294967298, 2, 1, NULL, 0);
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
INSERT INTO schema_version VALUES (2);
INSERT INTO credential VALUES (1, 'scrypt$1$1$1$AA==$AA==', 1, NULL, 0, 0);
INSERT INTO device VALUES (9, 1, 'Firefox', 1, 2, NULL, NULL, 'web', '["call.audio"]', '192.0.2.1', 3, 0, 2);
INSERT INTO code VALUES (1, x'01', 0, 9223372036854775807);
INSERT INTO invitation VALUES (x'02', 1, 9, 2);
INSERT INTO quota VALUES (1, 5);
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
INSERT INTO schema_version VALUES (3);
UPDATE counter SET call_seq = 2 WHERE slot = 1;
INSERT INTO scheduled VALUES (1, 's-1', 7, 'text', '{"text":"later"}', 0, 0, 0, 9000000000000, zeroblob(32), '');
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
INSERT INTO event (id, n, is_message, sender, at, kind, client_id, hash, ref, thread, state, body, expires_at, mentions, mentions_all, original, edited_at, is_pinned, reactions, votes, allows_many_votes, hides_voters, is_closed, reply_count, last_reply) SELECT id, n, is_message, sender, at, kind, client_id, hash, ref, thread, state, body, expires_at, mentions, mentions_all, original, edited_at, is_pinned, reactions, votes, allows_many_votes, hides_voters, is_closed, reply_count, last_reply FROM event_by_id ORDER BY at, id;
DROP TABLE event_by_id;
CREATE UNIQUE INDEX event_id ON event (id);
CREATE UNIQUE INDEX event_client ON event (client_id, sender, id >> 32) WHERE client_id IS NOT NULL;
CREATE INDEX event_edit ON event (ref, id) WHERE kind = 'edit';
CREATE INDEX event_thread ON event (thread, id) WHERE thread IS NOT NULL;
CREATE INDEX event_expiry ON event (expires_at, id) WHERE expires_at IS NOT NULL;
INSERT INTO schema_version VALUES (4);
CREATE TABLE text_change (number INTEGER PRIMARY KEY, event INTEGER NOT NULL) STRICT;
ALTER TABLE conversation ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conversation_listed ON conversation (slot) WHERE is_listed = 1;
INSERT INTO schema_version VALUES (5);
ALTER TABLE account ADD COLUMN quiet_from INTEGER;
ALTER TABLE account ADD COLUMN quiet_until INTEGER;
ALTER TABLE contact ADD COLUMN text TEXT NOT NULL DEFAULT '';
ALTER TABLE contact ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE member ADD COLUMN notifies_mentions_only INTEGER NOT NULL DEFAULT 0;
ALTER TABLE event ADD COLUMN closes_at INTEGER;
CREATE INDEX event_closing ON event (closes_at, id) WHERE closes_at IS NOT NULL AND is_closed = 0;
ALTER TABLE report ADD COLUMN text TEXT NOT NULL DEFAULT '';
ALTER TABLE report ADD COLUMN resolved_at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX report_open ON report (id) WHERE resolved_at = 0;
INSERT INTO schema_version VALUES (6);
CREATE INDEX counter_call ON counter (slot) WHERE call_seq > 0;
INSERT INTO schema_version VALUES (7);
CREATE INDEX event_preview ON event (ref) WHERE kind = 'preview';
INSERT INTO schema_version VALUES (8);
ALTER TABLE blob ADD COLUMN duration INTEGER NOT NULL DEFAULT 0;
ALTER TABLE blob ADD COLUMN thumb TEXT NOT NULL DEFAULT '';
INSERT INTO schema_version VALUES (9);
ALTER TABLE event ADD COLUMN edit_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE member RENAME COLUMN blocks_peer TO block_seq;
INSERT INTO schema_version VALUES (10);
CREATE TABLE event_place (id INTEGER PRIMARY KEY, place INTEGER NOT NULL) STRICT;
CREATE TABLE event_recent (id INTEGER PRIMARY KEY, place INTEGER NOT NULL) STRICT;
INSERT INTO event_place (id, place) SELECT id, place FROM event INDEXED BY event_id WHERE id <> 4294967298 ORDER BY id;
INSERT INTO event_recent (id, place) SELECT id, place FROM event INDEXED BY event_id WHERE id = 4294967298;
DROP INDEX event_id;
INSERT INTO schema_version VALUES (11);
