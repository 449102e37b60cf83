/// The eleventh version of the schema: new events of all conversations share the last pages of the
/// index of ids.
///
/// The index of ids was `event_id`, an index of `event`. It has one page for each active
/// conversation, so a batch wrote about one page for each of its messages. Now a batch adds its
/// events to `event_recent`, which has a few pages. Later batches move the entries of some
/// conversations at a time to `event_place`, and write one page for each of these conversations.
/// The index of ids is the union of both tables.
enum SchemaStep11 {
    static let script = """
        CREATE TABLE event_place (id INTEGER PRIMARY KEY, place INTEGER NOT NULL) STRICT;
        CREATE TABLE event_recent (id INTEGER PRIMARY KEY, place INTEGER NOT NULL) STRICT;
        INSERT INTO event_place (id, place) SELECT id, place FROM event INDEXED BY event_id ORDER BY id;
        DROP INDEX event_id;
        """
}
