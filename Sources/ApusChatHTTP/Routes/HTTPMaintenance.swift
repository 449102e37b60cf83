package import Logging

/// The periodic maintenance of accounts and uploads.
package struct HTTPMaintenance: Sendable {
    private let accounts: Accounts
    private let uploads: Uploads
    private let logger: Logger

    package init(accounts: Accounts, uploads: Uploads, logger: Logger) {
        self.accounts = accounts
        self.uploads = uploads
        self.logger = logger
    }

    /// Runs the maintenance once a minute until the task is cancelled.
    package func run() async {
        var minutes = 0
        while (try? await Task.sleep(for: .seconds(60))) != nil {
            self.accounts.sweepBudgets()
            await self.attempt("Could not remove ended sessions from the database") { try await self.accounts.settleEndedSessions() }
            if minutes % 60 == 0 { await self.attempt("Could not remove expired uploads") { try await self.uploads.sweep() } }
            minutes += 1
        }
    }

    /// Runs a task. If it fails, for example because the disk is full, it is tried again at the
    /// next run.
    private func attempt(_ failure: Logger.Message, _ body: () async throws -> Void) async {
        do { try await body() } catch { self.logger.warning(failure, metadata: ["error": "\(error)"]) }
    }
}
