/// The eighth version of the schema: an index of the previews of links, which are removed when
/// their message is recalled.
enum SchemaStep8 {
    static let script = """
        CREATE INDEX event_preview ON event (ref) WHERE kind = 'preview';
        """
}
