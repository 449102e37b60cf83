package import Logging

/// The periodic maintenance of accounts and uploads.
package struct HTTPMaintenance: Sendable {
    private let accounts: Accounts
    private let uploads: Uploads
    private let logger: Logger
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: A function that waits between two runs. An error that it throws ends the
    ///   maintenance.
    package init(
        accounts: Accounts, uploads: Uploads, logger: Logger,
        sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.accounts = accounts
        self.uploads = uploads
        self.logger = logger
        self.sleep = sleep
    }

    /// Continues the uploads that the last stop of the server interrupted. Then runs the
    /// maintenance once a minute until the task is cancelled.
    package func run() async {
        var minutes = 0
        await self.resumeUploads()
        while (try? await self.sleep(.seconds(60))) != nil {
            self.accounts.sweepBudgets()
            await self.attempt("Could not remove ended sessions from the database") { try await self.accounts.settleEndedSessions() }
            await self.resumeUploads()
            if minutes % 60 == 0 { await self.attempt("Could not remove expired uploads") { try await self.uploads.sweep() } }
            minutes += 1
        }
    }

    private func resumeUploads() async { await self.attempt("Could not store complete uploads") { try await self.uploads.resume() } }

    /// Runs a task. If it fails, for example because the disk is full, it is tried again at the
    /// next run.
    private func attempt(_ failure: Logger.Message, _ body: () async throws -> Void) async {
        do { try await body() } catch { self.logger.warning(failure, metadata: ["error": "\(error)"]) }
    }
}
