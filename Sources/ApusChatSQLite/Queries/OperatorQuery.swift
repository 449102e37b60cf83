/// The statements that list rows for operators.
enum OperatorQuery: Int, Query {
    case accounts, invitations, reports, allReports, resolveReport

    static var group: QueryGroup { .operators }

    var sql: String {
        switch self {
        case .accounts: "SELECT \(AccountColumns.list) FROM account a WHERE a.user > ?1 ORDER BY a.user LIMIT ?2"
        case .invitations: "SELECT hash, created_at, expires_at, uses_left FROM invitation WHERE hash > ?1 ORDER BY hash LIMIT ?2"
        case .reports:
            """
            SELECT id, reporter, subject, conversation, seq, reason, at, text, resolved_at FROM report INDEXED BY report_open
            WHERE resolved_at = 0 AND id < ?1 ORDER BY id DESC LIMIT ?2
            """
        case .allReports:
            """
            SELECT id, reporter, subject, conversation, seq, reason, at, text, resolved_at FROM report
            WHERE id < ?1 ORDER BY id DESC LIMIT ?2
            """
        case .resolveReport: "UPDATE report SET resolved_at = ?2 WHERE id = ?1 AND resolved_at = 0"
        }
    }
}
