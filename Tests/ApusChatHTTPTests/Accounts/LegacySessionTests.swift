import ApusChatProtocol
import ApusChatStorage
import NIOConcurrencyHelpers
import NIOCore
import Testing

@testable import ApusChatHTTP

@Suite struct LegacySessionTests {
    private static let day: Int64 = 86_400_000

    private func begin(_ test: TestAccounts) async throws -> (token: String, answer: SessionAnswer) {
        let answer = try await test.register("alice")
        return (try #require(test.accounts.legacyToken(of: answer)), answer)
    }

    @Test func aTokenOpensItsSessionAndHasNoCharacterThatURLsEscape() async throws {
        let test = try TestAccounts()
        let (token, answer) = try await self.begin(test)
        #expect(token.utf8.allSatisfy { byte in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8.contains(byte) })
        let session = try await test.accounts.session(legacy: token)
        #expect(session.device.rawValue == answer.device.number)
    }

    @Test func tokensOfOtherKindsOpenNothing() async throws {
        let test = try TestAccounts()
        let (token, answer) = try await self.begin(test)
        for text in ["", "x", answer.access, String(answer.access.dropFirst(2)), answer.refresh, answer.known ?? "", token + "A", "é"] {
            #expect(try await test.code { _ = try await test.accounts.session(legacy: text) }?.code == .unauthorized, "\(text)")
        }
        for text in [token, "a." + token, "l." + token] {
            #expect(try await test.code { _ = try await test.accounts.session(access: text) }?.code == .unauthorized, "\(text)")
            #expect(try await test.code { _ = try await test.refresh(text) }?.code == .unauthorized, "\(text)")
        }
    }

    @Test func useRenewsATokenForThirtyDays() async throws {
        let test = try TestAccounts()
        let (token, _) = try await self.begin(test)
        for _ in 0..<3 {
            test.wait(29 * Self.day)
            _ = try await test.accounts.session(legacy: token)
        }
        test.wait(30 * Self.day)
        #expect(try await test.code { _ = try await test.accounts.session(legacy: token) }?.code == .unauthorized)
        #expect(test.ended.withLockedValue { $0.count } == 1)
        #expect(try await test.code { _ = try await test.accounts.session(legacy: token) }?.code == .unauthorized)
    }

    @Test func afterALeapOfTheClockNoAgeIsTrusted() async throws {
        let test = try TestAccounts()
        let (token, _) = try await self.begin(test)
        test.isClockTrusted.withLockedValue { $0 = false }
        test.wait(300 * Self.day)
        _ = try await test.accounts.session(legacy: token)
    }

    @Test func anEndedSessionOrAClosedAccountRefusesTheToken() async throws {
        let test = try TestAccounts()
        let (token, _) = try await self.begin(test)
        let session = try await test.accounts.session(legacy: token)
        try await test.accounts.logout(refresh: nil, session: session, from: test.client)
        #expect(try await test.code { _ = try await test.accounts.session(legacy: token) }?.code == .unauthorized)
        let second = try #require(test.accounts.legacyToken(of: try await test.login("alice")))
        _ = try await test.accounts.session(legacy: second)
        _ = try await test.accounts.setSuspended(true, UserName(prepared: "alice"))
        #expect(try await test.code { _ = try await test.accounts.session(legacy: second) }?.code == .unauthorized)
    }

    @Test func theTagOfAFileCannotBeComputedWithoutTheKey() async throws {
        let (first, second) = (try TestAccounts(), try TestAccounts())
        let blob = try #require(BlobID(String(repeating: "ab", count: 32)))
        #expect(first.accounts.tag(of: blob) == first.accounts.tag(of: blob))
        #expect(first.accounts.tag(of: blob) != second.accounts.tag(of: blob))
        #expect(first.accounts.tag(of: blob).utf8.count == 32)
    }

    @Test func bytesBecomeAnUploadWithinTheQuota() async throws {
        let test = try TestAccounts()
        let (token, _) = try await self.begin(test)
        let session = try await test.accounts.session(legacy: token)
        let files = try BlobFiles(folder: test.folder)
        defer { files.close() }
        var configuration = UploadsConfiguration()
        configuration.quota = 10
        configuration.maximumBytes = 10
        let uploads = try Uploads(folder: test.folder, accounts: test.accounts, files: files, configuration: configuration)
        func store(_ count: Int) async throws -> BlobRow {
            try await uploads.store(ByteBuffer(bytes: [UInt8](repeating: 7, count: count)), for: session, from: test.client)
        }
        let row = try await store(6)
        #expect(row.size == 6 && row.type == MediaType.other)
        #expect(try await files.prefix(of: row.id, upTo: 9) == ByteBuffer(bytes: [UInt8](repeating: 7, count: 6)))
        #expect(try await test.code { _ = try await store(5) }?.code == .limit)
        #expect(try await test.code { _ = try await store(11) }?.code == .tooLarge)
        // A refused upload does not use the quota.
        #expect(try await store(4).size == 4)
    }
}
