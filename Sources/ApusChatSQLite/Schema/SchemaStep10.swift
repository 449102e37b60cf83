/// The tenth version of the schema: edits and blocks are ordered by the log instead of by the clock
/// of the server, which can be set back.
enum SchemaStep10 {
    static let script = """
        ALTER TABLE event ADD COLUMN edit_seq INTEGER NOT NULL DEFAULT 0;
        UPDATE event SET edit_seq = change.id & 4294967295
            FROM (SELECT ref, max(id) AS id FROM event WHERE kind IN ('edit', 'call.update') GROUP BY ref) AS change
            WHERE event.id = change.ref AND edited_at > 0;
        UPDATE member SET blocks_peer = max(1, coalesce((
            SELECT max(id & 4294967295) FROM event
            WHERE id BETWEEN member.slot << 32 AND (member.slot << 32) + 4294967295 AND at <= member.blocks_peer), 1))
            WHERE blocks_peer > 0;
        ALTER TABLE member RENAME COLUMN blocks_peer TO block_seq;
        """
}
