/// The statements that read accounts and contacts.
enum PeopleQuery: Int, Query {
    case named, account, all, containing, contacts, pair

    static var group: QueryGroup { .people }

    var sql: String {
        switch self {
        case .named: "SELECT user FROM account WHERE name = ?1"
        case .account: "SELECT \(AccountColumns.list) FROM account a WHERE user = ?1"
        case .all: "SELECT \(AccountColumns.list) FROM account a WHERE user > ?1 AND state = 0 ORDER BY user LIMIT ?2"
        case .containing:
            """
            SELECT \(AccountColumns.list) FROM name_search s CROSS JOIN account a ON a.user = s.rowid
            WHERE s.name_search MATCH ?1 AND s.rowid > ?2 AND a.state = 0 ORDER BY s.rowid LIMIT ?3
            """
        case .contacts: "SELECT \(ContactColumns.list) FROM contact WHERE owner = ?1 AND peer > ?2 ORDER BY peer LIMIT ?3"
        case .pair: "SELECT conversation FROM conversation WHERE low = ?1 AND high = ?2"
        }
    }
}
