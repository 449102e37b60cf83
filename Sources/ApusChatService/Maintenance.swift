import ApusChatCore
import ApusChatStorage
import ApusChatWire
import Logging

/// The work of a service that no request causes.
extension ChatService {
    /// The number of messages that one command makes disappear.
    private static let batch = 100
    /// The number of answers that one step forgets, so that commands do not wait for long.
    private static let forgottenAtOnce = 500

    /// Works once a second until the task is cancelled: messages disappear, answers of old requests
    /// are forgotten.
    package func run() async {
        var seconds = 0
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            await self.attempt("Messages could not be made to disappear") { try await self.expire() }
            if seconds % 600 == 0 { await self.attempt("Old answers could not be forgotten") { try await self.forgetAnswers() } }
            if seconds % 60 == 0 { self.sweepBudgets() }
            seconds += 1
        }
    }

    /// Blanks the messages whose time has come.
    package func expire() async throws {
        let now = self.configuration.environment.wall()
        while true {
            let due = try await self.pool.read(for: UserKey(0)) { try $0.expired(at: now, limit: Self.batch) }
            guard !due.isEmpty else { return }
            _ = try await self.log.submit(Command(actor: UserKey(0), device: DeviceKey(0), request: nil, action: .blank(due, .expired)))
            guard due.count == Self.batch else { return }
        }
    }

    private func forgetAnswers() async throws {
        let oldest = self.configuration.environment.wall() - self.configuration.rules.answerMilliseconds
        while try await self.log.withStorage({ try $0.forgetRequests(before: oldest, limit: Self.forgottenAtOnce) }) == Self.forgottenAtOnce
        {}
    }

    /// A failure is tried again the next time, such as after a full disk.
    private func attempt(_ failure: Logger.Message, _ body: () async throws -> Void) async {
        do { try await body() } catch { self.logger.warning(failure, metadata: ["error": "\(error)"]) }
    }
}
