import ApusChatProtocol
import ApusConnectivity
import ApusPasswords
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

/// The queue of passwords that are hashed.
@Suite("Threads of passwords")
struct PasswordThreadsTests {
    private let client = ClientOrigin(IPAddress("192.0.2.9"))

    private func withThreads(_ body: (PasswordThreads) async throws -> Void) async throws {
        let threads = try PasswordThreads(cost: .init(logRounds: 1))
        defer { threads.close() }
        try await body(threads)
    }

    @Test func aHashVerifiesItsPasswordOnly() async throws {
        try await self.withThreads { threads in
            let hash = try await threads.hash("correct horse", for: self.client)
            #expect(try await threads.verifies("correct horse", hash, for: self.client))
            for other in ["", "correct hors", "correct horse ", "Correct horse", hash] {
                let isRight = try await threads.verifies(other, hash, for: self.client)
                #expect(!isRight, "\(other)")
            }
            #expect(try await threads.hash("correct horse", for: self.client) != hash, "each hash has a salt of its own")
        }
    }

    /// A user that does not exist has the hash of no password.
    @Test(arguments: ["", "correct horse"]) func withoutAHashNoPasswordIsCorrect(password: String) async throws {
        try await self.withThreads { threads in
            let isRight = try await threads.verifies(password, nil, for: self.client)
            #expect(!isRight)
        }
    }

    @Test(arguments: ["", "scrypt", "scrypt$1$8$1$$", "scrypt$23$8$1$AAAA$AAAA", "scrypt$1$8$65$AAAA$AAAA", "bcrypt$1$8$1$AAAA$AAAA"])
    func aDamagedHashVerifiesNothing(hash: String) async throws {
        try await self.withThreads { threads in
            for password in ["", "correct horse"] {
                let isRight = try await threads.verifies(password, hash, for: self.client)
                #expect(!isRight)
            }
        }
    }

    /// Older hashes contain the cost with which they were made.
    @Test func aHashOfAnotherCostIsVerified() async throws {
        try await self.withThreads { threads in
            let older = try ScryptHash(hashing: "correct horse", cost: .init(logRounds: 3, blockSize: 2, parallelism: 2)).text
            #expect(try await threads.verifies("correct horse", older, for: self.client))
        }
    }

    /// More passwords of one address than may wait are refused with a time, and those of another
    /// address are served.
    @Test func theQueueOfAnAddressIsBounded() async throws {
        let threads = try PasswordThreads(cost: .init(logRounds: 12), threads: 1)
        defer { threads.close() }
        let flood = ClientOrigin(IPAddress("198.51.100.7"))
        let refusals = try await withThrowingTaskGroup(of: ChatError?.self) { group in
            for _ in 0..<60 {
                group.addTask {
                    do {
                        _ = try await threads.hash("password", for: flood)
                        return nil
                    } catch let error as ChatError {
                        return error
                    }
                }
            }
            group.addTask {
                _ = try await threads.hash("password", for: self.client)
                return nil
            }
            return try await group.reduce(into: [ChatError]()) { if let error = $1 { $0.append(error) } }
        }
        #expect(!refusals.isEmpty)
        for refusal in refusals { #expect(refusal.code == .tooMany && refusal.retryAfter == 2_000) }
    }
}
