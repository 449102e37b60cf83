/// The statements that list rows for operators.
enum OperatorQuery: Int, Query {
    case accounts, invitations, reports

    static var group: QueryGroup { .operators }

    var sql: String {
        switch self {
        case .accounts: "SELECT \(AccountColumns.list) FROM account a WHERE a.user > ?1 ORDER BY a.user LIMIT ?2"
        case .invitations: "SELECT hash, created_at, expires_at, uses_left FROM invitation WHERE hash > ?1 ORDER BY hash LIMIT ?2"
        case .reports:
            "SELECT id, reporter, subject, conversation, seq, reason, at FROM report WHERE id < ?1 ORDER BY id DESC LIMIT ?2"
        }
    }
}
