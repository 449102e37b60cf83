package import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Logging

// The periodic work of the chat.
extension ChatService {
    /// The maximum number of rows that one step removes. The limit bounds the delay of commands.
    private static let forgottenAtOnce = 500

    /// Performs the periodic work until the task is cancelled.
    ///
    /// - Every second: sends scheduled messages, closes ended polls, removes expired messages and
    ///   erases deleted data.
    /// - Every minute: sweeps the rate budgets.
    /// - Every ten minutes: removes outdated answers, and text changes that the search index
    ///   contains.
    package func run() async {
        var seconds = 0
        var maintenance = Maintenance()
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            await self.attempt("The periodic work of the chat failed") { maintenance = try await self.maintain(maintenance) }
            if seconds % 600 == 0 { await self.attempt("Outdated answers could not be removed") { try await self.forgetAnswers() } }
            if seconds % 600 == 300 {
                await self.attempt("Outdated changes of texts could not be removed") { try await self.forgetTextChanges() }
            }
            if seconds % 60 == 0 { self.sweepBudgets() }
            seconds += 1
        }
    }

    /// Performs all work that is due. Nothing is due while the clock is not trusted or the storage
    /// accepts no writes.
    ///
    /// To retry the commands that could not be written, pass the returned value to the next call.
    package func maintain(_ maintenance: Maintenance = Maintenance()) async throws -> Maintenance {
        var maintenance = maintenance
        while !Task.isCancelled, self.log.health == .writable {
            let commands: [Command]
            (commands, maintenance) = try await self.dueCommands(maintenance)
            guard !commands.isEmpty, await self.submit(commands, &maintenance) else { break }
        }
        return maintenance
    }

    /// Submits the commands of a page in order.
    ///
    /// - Returns: Whether the next page can follow immediately.
    private func submit(_ commands: [Command], _ maintenance: inout Maintenance) async -> Bool {
        var continues = true
        var failures: [ChatError] = []
        for (index, command) in commands.enumerated() where !maintenance.isPostponed(index) {
            // After a failure of the storage, the writer would also refuse the remaining commands.
            guard failures.last?.code != .unavailable, self.log.health == .writable else {
                maintenance.withdrew(index)
                continues = false
                continue
            }
            do throws(ChatError) {
                _ = try await self.log.submit(command)
            } catch {
                guard error.code.isTemporary else { continue }
                failures.append(error)
                if !maintenance.refused(index, at: self.configuration.environment.read().time) { continues = false }
            }
        }
        if let first = failures.first {
            self.logger.warning(
                "Commands of the periodic work are repeated later", metadata: ["count": "\(failures.count)", "error": "\(first)"])
        }
        return continues
    }

    private func dueCommands(_ before: Maintenance) async throws -> ([Command], Maintenance) {
        let now = self.configuration.environment.read()
        guard now.isTrusted else { return ([], before) }
        let makeContext = self.makeContext
        return try await self.pool.read(for: UserKey(0)) { reads in
            var maintenance = before
            let commands = try maintenance.next(reads, at: now.time) { row in
                SendCommand(row, makeContext(reads, row.address.user))
            }
            return (commands, maintenance)
        }
    }

    /// Removes stored answers to requests that are too old to be retried.
    package func forgetAnswers() async throws {
        let now = self.configuration.environment.read()
        guard now.isTrusted else { return }
        let oldest = now.time - self.configuration.rules.answerMilliseconds
        var count = Self.forgottenAtOnce
        while count == Self.forgottenAtOnce {
            count = try await self.log.withStorage { try $0.forgetRequests(before: oldest, limit: Self.forgottenAtOnce) }
        }
    }

    private func forgetTextChanges() async throws {
        guard let number = try await self.indexer?.lastChange() else { return }
        var count = Self.forgottenAtOnce
        while count == Self.forgottenAtOnce {
            count = try await self.log.withStorage { try $0.forgetTextChanges(before: number, limit: Self.forgottenAtOnce) }
        }
    }

    /// Runs a task and logs its failure. A task that fails, for example because the disk is full,
    /// runs again in the next period.
    private func attempt(_ failure: Logger.Message, _ body: () async throws -> Void) async {
        do { try await body() } catch { self.logger.warning(failure, metadata: ["error": "\(error)"]) }
    }
}
