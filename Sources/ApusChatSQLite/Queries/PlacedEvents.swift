/// The parts of statements that find events by their ids, in `event_recent` and `event_place`.
///
/// Each statement also compares the id of the event, so that a damaged entry cannot return an event
/// of another conversation.
enum PlacedEvents {
    /// Returns the condition that selects the event with an id.
    ///
    /// - Parameters:
    ///   - id: A parameter or a column of another table.
    ///   - event: The prefix of the columns of `event`, such as `e.`.
    static func condition(_ id: String, event: String = "") -> String {
        "\(event)place = \(self.place(id)) AND \(event)id = \(id)"
    }

    /// Returns the place of the event with an id; NULL if the event does not exist.
    static func place(_ id: String) -> String {
        """
        coalesce((SELECT r.place FROM main.event_recent r WHERE r.id = \(id)), (SELECT p.place FROM main.event_place p WHERE p.id = \(id)))
        """
    }

    /// Returns a query for the events with ids from `?1` to `?2`, in the order of their ids. SQLite
    /// reads both tables in this order and merges them, so a query with a limit reads no further
    /// rows.
    ///
    /// - Parameters:
    ///   - columns: The columns of `event` that follow the id.
    ///   - condition: A further condition.
    ///   - isDescending: Whether the highest id is the first.
    ///   - limit: The parameter of the limit; nil for all rows.
    static func range(_ columns: String, where condition: String? = nil, isDescending: Bool = false, limit: String? = nil) -> String {
        let parts = ["event_recent", "event_place"].map { table in
            """
            SELECT p.id AS id\(columns.isEmpty ? "" : ", \(columns)") FROM \(table) p CROSS JOIN event e ON e.place = p.place AND e.id = p.id
            WHERE p.id BETWEEN ?1 AND ?2\(condition.map { " AND \($0)" } ?? "")
            """
        }
        return parts.joined(separator: "\nUNION ALL\n") + "\nORDER BY id\(isDescending ? " DESC" : "")\(limit.map { " LIMIT \($0)" } ?? "")"
    }
}
