/// The ninth version of the schema: what the server finds in a picture, film or recording.
enum SchemaStep9 {
    static let script = """
        ALTER TABLE blob ADD COLUMN duration INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE blob ADD COLUMN thumb TEXT NOT NULL DEFAULT '';
        """
}
