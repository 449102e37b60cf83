/// The seventh version of the schema: an index that finds the conversations with a running call
/// after a restart.
enum SchemaStep7 {
    static let script = """
        CREATE INDEX counter_call ON counter (slot) WHERE call_seq > 0;
        """
}
