import ApusChatProtocol
import Foundation
import GRDB
import Logging
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatServer

@Suite("Accounts")
struct AccountsTests {
    private static let cheap = ChatServerConfiguration.PasswordCost(logRounds: 4, blockSize: 8, parallelism: 1)

    @Test func aPasswordIsVerifiedAndNotKept() throws {
        let hash = try PasswordHash("correct horse", cost: Self.cheap)
        #expect(hash.text.hasPrefix("scrypt$4$8$1$"))
        #expect(!hash.text.contains("horse"))
        #expect(hash.verifies("correct horse"))
        #expect(!hash.verifies("correct horsf"))
        #expect(try PasswordHash("correct horse", cost: Self.cheap).text != hash.text)  // salted
    }

    @Test(arguments: ["", "scrypt", "scrypt$99$8$1$AA==$AA==", "scrypt$4$8$1$!$!", "scrypt$4$8$1$AA==$", "md5$4$8$1$AA==$AA=="])
    func aDamagedHashVerifiesNothing(text: String) {
        #expect(!PasswordHash(stored: text).verifies("x"))
    }

    @Test func tokensAreKeptAsHashesAndEnd() throws {
        let chat = try TestChat()
        let token = Secrets.newToken()
        #expect(token.utf8.count == 43)
        let alice = chat.alice
        try chat.db.write { db in try AccountRows.insertDevice("d1", of: alice, label: "", token: token, at: 10, expiresAt: 20, db) }
        func identity(_ now: Int64) throws -> AccountRows.Identity? {
            try chat.db.read { db in try AccountRows.identity(token: token, at: now, db) }
        }
        #expect(try identity(19) == AccountRows.Identity(user: alice, device: "d1", expiresAt: 20))
        #expect(try identity(20) == nil)
        let kept = try chat.db.read { db in try Data.fetchOne(db, sql: "SELECT token_hash FROM device") }
        #expect(kept?.count == 32 && kept != Data(token.utf8))
        try chat.db.write { db in try AccountRows.deleteDevice("d1", db) }
        #expect(try identity(15) == nil)
    }

    @Test func namesThatDifferInCaseAreOneName() throws {
        let chat = try TestChat()
        let name = try #require(UserName("ALICE"))
        let code = chat.code {
            _ = try chat.db.write { db in
                try AccountRows.insertUser(UserID(unchecked: "x"), name: name, display: "", password: PasswordHash(stored: ""), at: 1, db)
            }
        }
        #expect(code == .nameTaken)
    }

    @Test func theThrottleCountsAttemptsOfAWindow() {
        var throttle = LoginThrottle()
        func begins(_ name: String, _ address: String, _ now: Int64) -> Bool { throttle.begins(name, from: address, at: now) }
        for _ in 0..<10 { #expect(begins("a", "1", 1_000)) }
        #expect(!begins("a", "1", 60_999))
        #expect(begins("b", "1", 1_000))
        #expect(begins("a", "1", 61_000))
        for _ in 0..<9 { #expect(begins("a", "1", 61_000)) }
        #expect(!begins("a", "1", 61_000))
        throttle.takesBack("a", from: "1")
        #expect(begins("a", "1", 61_000))
        #expect(!begins("a", "1", 61_000))
    }

    @Test func theThrottleLocksAnAddressOutAndNotTheName() {
        var throttle = LoginThrottle()
        func tries(_ address: String?) -> Int { (0..<200).filter { _ in throttle.begins("alice", from: address, at: 0) }.count }
        func begins(_ name: String, _ address: String, _ now: Int64) -> Bool { throttle.begins(name, from: address, at: now) }
        #expect(tries("bad") == 10)
        #expect(tries("good") == 10)
        #expect(tries(nil) == 10)
        // The limit for all addresses applies as well.
        #expect((0..<200).reduce(0) { $0 + tries("bad \($1)") } == 70)
        #expect(!begins("alice", "other", 59_999))
        #expect(begins("alice", "other", 60_000))
    }

    @Test func theThrottleForgets() {
        var throttle = LoginThrottle()
        throttle.maximumEntries = 4
        func begins(_ name: String, _ address: String, _ now: Int64) -> Bool { throttle.begins(name, from: address, at: now) }
        for _ in 0..<10 { _ = begins("a", "1", 0) }
        #expect(begins("b", "1", 59_999))
        #expect(begins("c", "1", 60_000))  // replaces an expired entry
        for _ in 0..<9 { #expect(begins("b", "1", 60_001)) }
        #expect(!begins("b", "1", 60_001))
    }

    /// Starts 130 attempts before any of them has ended.
    @Test func guessesAtTheSameTimeAreCountedToo() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (store, accounts) = try Self.accounts(in: folder) { 1_000 }
        defer {
            accounts.close()
            store.close()
        }
        _ = try await accounts.register(RegisterRequest(name: "dora_1", password: "12345678"))
        let codes = await withTaskGroup(of: ChatError.Code?.self) { group in
            for index in 0..<130 {
                group.addTask {
                    do {
                        _ = try await accounts.login(LoginRequest(name: "dora_1", password: "wrong \(index)"), from: "bad")
                        return nil
                    } catch { return (error as? ChatError)?.code }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == .badCredentials }.count == 10)
        #expect(codes.filter { $0 == .tooMany }.count == 120)
        // The user can still log in from another address, any number of times.
        for _ in 0..<20 { _ = try await accounts.login(LoginRequest(name: "dora_1", password: "12345678"), from: "hers") }
    }

    @Test func aDisplayNameHoldsNoControls() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (store, accounts) = try Self.accounts(in: folder) { 1_000 }
        defer {
            accounts.close()
            store.close()
        }
        for display in ["A\u{0}B", "A\u{1B}[2J", "A\nB"] {
            let error = await #expect(throws: ChatError.self) {
                try await accounts.register(RegisterRequest(name: "dora_1", password: "12345678", display: display))
            }
            #expect(error?.code == .badRequest)
        }
    }

    private static func accounts(in folder: String, now: @escaping @Sendable () -> Int64) throws -> (ChatStore, Accounts) {
        let store = try ChatStore(directory: folder, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: now)
        var configuration = ChatServerConfiguration(dataDirectory: folder)
        configuration.passwordCost = self.cheap
        return (store, try Accounts(store: store, configuration: configuration, now: now))
    }

    @Test func registerLoginAndTheSameWordsForUnknownUsers() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("apus-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let time = NIOLockedValueBox<Int64>(1_000)
        let (store, accounts) = try Self.accounts(in: folder) { time.withLockedValue { $0 } }
        defer {
            accounts.close()
            store.close()
        }

        let made = try await accounts.register(RegisterRequest(name: "dora_1", password: "12345678", display: " Dora "))
        #expect(made.user.display == "Dora")
        #expect(made.expires == 1_000 + 30 * 24 * 3_600 * 1_000)
        #expect(try await accounts.identity(token: made.token)?.user == made.user.id)
        let session = try await accounts.login(LoginRequest(name: "DORA_1", password: "12345678"))
        #expect(session.user.id == made.user.id && session.token != made.token && session.device != made.device)

        let wrong = await #expect(throws: ChatError.self) { try await accounts.login(LoginRequest(name: "dora_1", password: "12345679")) }
        let unknown = await #expect(throws: ChatError.self) { try await accounts.login(LoginRequest(name: "nobody", password: "12345678")) }
        #expect(wrong == unknown)
        await #expect(throws: ChatError.self) { try await accounts.register(RegisterRequest(name: "_no", password: "12345678")) }
        await #expect(throws: ChatError.self) { try await accounts.register(RegisterRequest(name: "fred", password: "1234567")) }

        let identity = try #require(try await accounts.identity(token: made.token))
        try await accounts.logout(identity)
        #expect(try await accounts.identity(token: made.token) == nil)
        #expect(try await accounts.identity(token: session.token) != nil)
        time.withLockedValue { $0 = session.expires }
        #expect(try await accounts.identity(token: session.token) == nil)
    }
}
