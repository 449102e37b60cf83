/// A statement in the catalog of this target. A connection prepares each statement once and caches
/// it. A test checks each query plan.
protocol Query: CaseIterable, RawRepresentable<Int>, Sendable {
    static var group: QueryGroup { get }
    var sql: String { get }
}

/// The kinds of statements.
enum QueryGroup: Int, CaseIterable {
    case transaction, fact, change, log, list, people, credential, maintenance, operators, search

    /// All statements of the group.
    var queries: [any Query] {
        switch self {
        case .transaction: TransactionQuery.allCases
        case .fact: FactQuery.allCases
        case .change: ChangeQuery.allCases
        case .log: LogQuery.allCases
        case .list: ListQuery.allCases
        case .people: PeopleQuery.allCases
        case .credential: CredentialQuery.allCases
        case .operators: OperatorQuery.allCases
        case .maintenance: MaintenanceQuery.allCases
        case .search: SearchQuery.allCases
        }
    }
}

/// The statements that begin and end transactions, and those that read and set the position of the
/// database.
enum TransactionQuery: Int, Query {
    case begin, beginWriting, commit, position, setPosition

    static var group: QueryGroup { .transaction }

    var sql: String {
        switch self {
        case .begin: "BEGIN"
        case .beginWriting: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .position: "SELECT epoch, last_commit FROM meta WHERE id = 1"
        case .setPosition: "UPDATE meta SET last_commit = ?1 WHERE id = 1"
        }
    }
}
