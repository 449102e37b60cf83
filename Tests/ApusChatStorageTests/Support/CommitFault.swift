import GRDBSQLite
import NIOConcurrencyHelpers

@testable import ApusChatSQLite

/// The result code of the next commits of a storage, which a test sets.
final class CommitFault: Sendable {
    private let box = NIOLockedValueBox(SQLITE_OK)

    var code: Int32 {
        get { self.box.withLockedValue { $0 } }
        set { self.box.withLockedValue { $0 = newValue } }
    }

    /// An environment whose commits have the result code.
    var environment: SQLiteEnvironment {
        var environment = SQLiteEnvironment()
        environment.commitFault = { self.code }
        return environment
    }
}
