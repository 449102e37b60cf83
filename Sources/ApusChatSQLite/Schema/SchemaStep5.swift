/// The fifth version of the schema: the changes of texts, for the search index, and the directory.
///
/// The index follows new events by their place. A change of an older one, which may have no event
/// of its own (content that expires), is listed in `text_change` until the index has seen it.
enum SchemaStep5 {
    static let script = """
        CREATE TABLE text_change (number INTEGER PRIMARY KEY, event INTEGER NOT NULL) STRICT;
        ALTER TABLE conversation ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
        UPDATE conversation SET is_listed = 1 WHERE json_extract(settings, '$.listed') = 1;
        CREATE INDEX conversation_listed ON conversation (slot) WHERE is_listed = 1;
        """
}
