import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusPasswords
import NIOConcurrencyHelpers
import NIOPosix

/// Hashes passwords on dedicated threads, so that sign-ins do not delay messages.
///
/// The addresses of clients are served in turn, so that many sign-ins from one address delay those
/// of other addresses by at most one hash.
final class PasswordThreads: Sendable {
    private typealias Work = @Sendable () -> Void
    private let queue: NIOLockedValueBox<FairQueue<Work>>
    private let threads: NIOThreadPool
    let cost: ScryptHash.Cost
    /// A hash that is verified if the user does not exist, so that the answer takes the same time.
    private let placeholder: String

    init(cost: ScryptHash.Cost, threads: Int = 2) throws {
        self.queue = .init(FairQueue(bounds: .init(underWay: threads, waitingOfUser: 16, waiting: 512)))
        self.threads = NIOThreadPool(numberOfThreads: threads)
        self.cost = cost
        self.placeholder = try ScryptHash(hashing: Secrets.code(), cost: cost).text
        self.threads.start()
    }

    func close() { try? self.threads.syncShutdownGracefully() }

    /// Returns the hash of a new password.
    func hash(_ password: String, for client: ClientOrigin) async throws -> String {
        let cost = self.cost
        return try await self.run(for: client) { Result { try ScryptHash(hashing: password, cost: cost).text } }.get()
    }

    /// Returns whether a password matches a hash. Takes the same time if the hash is nil.
    func verifies(_ password: String, _ hash: String?, for client: ClientOrigin) async throws -> Bool {
        let text = hash ?? self.placeholder
        let isRight = try await self.run(for: client) { ScryptHash(text: text)?.verifies(password) ?? false }
        return isRight && hash != nil
    }

    private func run<Value: Sendable>(for client: ClientOrigin, _ body: @escaping @Sendable () -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            let admission = self.queue.withLockedValue {
                $0.enqueue({ continuation.resume(returning: body()) }, for: UserKey(client.queue))
            }
            guard admission == .admitted else {
                return continuation.resume(
                    throwing: ChatError(
                        .tooMany, message: "Too many passwords are being checked at the same time. Try again later.", retryAfter: 2_000))
            }
            self.threads.submit { _ in self.runNext() }
        }
    }

    private func runNext() {
        guard let (key, work) = self.queue.withLockedValue({ $0.next() }) else { return }
        work()
        self.queue.withLockedValue { $0.finished(key) }
    }
}
