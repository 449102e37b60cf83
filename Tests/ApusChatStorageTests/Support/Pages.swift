/// Reads lists to their ends.
enum Pages {
    /// Returns the rows of all pages of a list that returns where its next page begins.
    static func all<Row, Cursor>(_ read: (Cursor?) throws -> (rows: [Row], next: Cursor?)) throws -> [Row] {
        var rows: [Row] = []
        var cursor: Cursor?
        var count = 0
        repeat {
            let page = try read(cursor)
            rows += page.rows
            cursor = page.next
            count += 1
        } while cursor != nil && count < 1_000
        return rows
    }
}
