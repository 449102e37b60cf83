/// The fifth version of the schema: changes of texts for the search index, and the directory.
///
/// The search index reads new events in the order of their places. A change of an older event, for
/// which there may be no new event (for example when it expires), is listed in `text_change` until
/// the index contains it.
enum SchemaStep5 {
    static let script = """
        CREATE TABLE text_change (number INTEGER PRIMARY KEY, event INTEGER NOT NULL) STRICT;
        ALTER TABLE conversation ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
        UPDATE conversation SET is_listed = 1 WHERE json_extract(settings, '$.listed') = 1;
        CREATE INDEX conversation_listed ON conversation (slot) WHERE is_listed = 1;
        """
}
