/// The sixth version of the schema: quiet hours, texts of contact requests, notification rules, end
/// times of polls, and resolved reports.
enum SchemaStep6 {
    static let script = """
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
        """
}
