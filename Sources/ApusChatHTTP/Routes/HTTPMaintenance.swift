package import Logging

/// The work that accounts and uploads leave for later.
package struct HTTPMaintenance: Sendable {
    private let accounts: Accounts
    private let uploads: Uploads
    private let logger: Logger

    package init(accounts: Accounts, uploads: Uploads, logger: Logger) {
        self.accounts = accounts
        self.uploads = uploads
        self.logger = logger
    }

    /// Works once a minute until the task is cancelled.
    package func run() async {
        var minutes = 0
        while (try? await Task.sleep(for: .seconds(60))) != nil {
            self.accounts.sweepBudgets()
            await self.attempt("Ended sessions could not be written") { try await self.accounts.settleEndedSessions() }
            if minutes % 60 == 0 { await self.attempt("Old uploads could not be removed") { try await self.uploads.sweep() } }
            minutes += 1
        }
    }

    /// A failure is tried again the next time, such as after a full disk.
    private func attempt(_ failure: Logger.Message, _ body: () async throws -> Void) async {
        do { try await body() } catch { self.logger.warning(failure, metadata: ["error": "\(error)"]) }
    }
}
