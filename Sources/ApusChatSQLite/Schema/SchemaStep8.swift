/// The eighth version of the schema: an index of link previews. A preview is removed when its
/// message is recalled.
enum SchemaStep8 {
    static let script = """
        CREATE INDEX event_preview ON event (ref) WHERE kind = 'preview';
        """
}
