/// The ninth version of the schema: the duration and the BlurHash that the server determines for an
/// upload.
enum SchemaStep9 {
    static let script = """
        ALTER TABLE blob ADD COLUMN duration INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE blob ADD COLUMN thumb TEXT NOT NULL DEFAULT '';
        """
}
