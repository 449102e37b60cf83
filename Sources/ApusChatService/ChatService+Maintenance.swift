package import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import Logging

// The work that no request causes.
extension ChatService {
    /// The number of answers that one step forgets, so that commands do not wait for long.
    private static let forgottenAtOnce = 500

    /// Works once a second until the task is cancelled: sends scheduled messages, makes messages
    /// disappear, erases what was deleted, and forgets the answers to old requests.
    package func run() async {
        var seconds = 0
        var maintenance = Maintenance()
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            await self.attempt("The chat could not be maintained") { maintenance = try await self.maintain(maintenance) }
            if seconds % 600 == 0 { await self.attempt("Old answers could not be forgotten") { try await self.forgetAnswers() } }
            if seconds % 600 == 300 { await self.attempt("Old changes could not be forgotten") { try await self.forgetTextChanges() } }
            if seconds % 60 == 0 { self.sweepBudgets() }
            seconds += 1
        }
    }

    /// Carries out all that is due. Nothing is due while the clock is not trusted.
    package func maintain(_ maintenance: Maintenance = Maintenance()) async throws -> Maintenance {
        var maintenance = maintenance
        while !Task.isCancelled {
            let commands: [Command]
            (commands, maintenance) = try await self.dueCommands(maintenance)
            guard !commands.isEmpty else { break }
            for command in commands { _ = try? await self.log.submit(command) }
        }
        return maintenance
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

    /// Forgets the answers to requests that are too old to be repeated.
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

    /// A failure is tried again the next time, such as after a full disk.
    private func attempt(_ failure: Logger.Message, _ body: () async throws -> Void) async {
        do { try await body() } catch { self.logger.warning(failure, metadata: ["error": "\(error)"]) }
    }
}
