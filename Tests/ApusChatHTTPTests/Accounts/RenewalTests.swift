import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusConnectivity
import ApusSeededRandom
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

/// Renewals and ends of sessions.
@Suite("Renewals of sessions")
struct RenewalTests {
    private static let day: Int64 = 86_400_000

    private func refused(_ test: TestAccounts, access token: String) async throws -> Bool {
        try await test.code { _ = try await test.accounts.session(access: token) }?.code == .unauthorized
    }

    private func refused(_ test: TestAccounts, refresh token: String) async throws -> Bool {
        try await test.code { _ = try await test.refresh(token) }?.code == .unauthorized
    }

    // MARK: Access tokens and clocks

    /// A token from a clock that was at most a minute ahead is still accepted; one from a clock
    /// that was further ahead would be valid for too long.
    @Test(arguments: [(0, true), (60_000, true), (60_001, false), (86_400_000, false)] as [(Int64, Bool)])
    func aTokenIsRefusedAfterTheClockWasSetBack(by milliseconds: Int64, isAccepted: Bool) async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        test.wait(-milliseconds)
        #expect(try await self.refused(test, access: answer.access) == !isAccepted)
        // The session continues with a new token in any case.
        let renewed = try await test.refresh(answer.refresh)
        #expect(try await !self.refused(test, access: renewed.access))
    }

    @Test(arguments: [(1_000, 999, true), (1_000, 1_000, false), (60_000, 59_999, true)] as [(Int64, Int64, Bool)])
    func theLifetimeOfATokenIsThatOfTheConfiguration(lifetime: Int64, age: Int64, isAccepted: Bool) async throws {
        let test = try TestAccounts { $0.accessLifetime = lifetime }
        let answer = try await test.register("alice")
        #expect(answer.accessExpiresAt == test.time.withLockedValue { $0 } + lifetime)
        test.wait(age)
        #expect(try await self.refused(test, access: answer.access) == !isAccepted)
    }

    @Test(arguments: [(0, true), (1, false)] as [(Int64, Bool)])
    func aSessionEndsAfterItsLifetimeWithoutARenewal(extra: Int64, isAccepted: Bool) async throws {
        let test = try TestAccounts { $0.sessionLifetime = 5 * Self.day }
        let first = try await test.register("alice")
        test.wait(4 * Self.day)
        let second = try await test.refresh(first.refresh)
        test.wait(5 * Self.day + extra)
        #expect(try await self.refused(test, refresh: second.refresh) == !isAccepted)
    }

    // MARK: Renewals

    @Test func manyRenewalsAtTheSameTimeHaveOneSuccessor() async throws {
        let test = try TestAccounts { $0.hasLimits = false }
        let first = try await test.register("alice")
        let answers = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<12 { group.addTask { try await test.refresh(first.refresh).refresh } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(answers.count == 1)
        _ = try await test.refresh(try #require(answers.first))
    }

    /// The first use of a new access token is recorded once, also by many requests.
    @Test func theFirstUseOfATokenEndsItsPredecessor() async throws {
        let test = try TestAccounts { $0.hasLimits = false }
        let first = try await test.register("alice")
        let second = try await test.refresh(first.refresh)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try await test.accounts.session(access: second.access) } }
            try await group.waitForAll()
        }
        let row = try #require(try await test.database.read { try $0.device(DeviceKey(first.device.number)) })
        #expect(row.generation == 2 && row.isConfirmed)
    }

    /// An access token of an earlier generation is valid until it expires, but confirms nothing.
    @Test func anOlderAccessTokenConfirmsNoSuccessor() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        let second = try await test.refresh(first.refresh)
        _ = try await test.accounts.session(access: first.access)
        #expect(try await test.refresh(first.refresh).refresh == second.refresh)
    }

    @Test func aRenewalRecordsItsTimeAndAddress() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        test.wait(Self.day)
        let other = ClientOrigin(IPAddress("2001:db8::7"))
        let second = try await test.accounts.refresh(RefreshRequest(refresh: first.refresh), from: other)
        let session = try await test.accounts.session(access: second.access)
        let device = try #require(try await test.accounts.devices(of: session).devices.first)
        #expect(device.address == "2001:db8::7" && device.lastSeen == device.at + Self.day)
    }

    @Test func aFullDiskRenewsNothingAndEndsNothing() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        test.database.isFull.withLockedValue { $0 = true }
        await #expect(throws: StorageError.self) { try await test.refresh(first.refresh) }
        _ = try await test.accounts.session(access: first.access)
        test.database.isFull.withLockedValue { $0 = false }
        _ = try await test.refresh(first.refresh)
        #expect(test.ended.withLockedValue { $0.isEmpty })
    }

    @Test func aSuspendedOrDeletedAccountIsNotRenewed() async throws {
        let test = try TestAccounts()
        for name in ["alice", "bobby"] {
            let answer = try await test.register(name)
            if name == "alice" {
                _ = try await test.accounts.setSuspended(true, UserName(prepared: name))
            } else {
                _ = try await test.accounts.delete(UserName(prepared: name))
            }
            #expect(try await self.refused(test, refresh: answer.refresh))
        }
    }

    /// Renewals compared with the state machine of their tokens.
    @Test(arguments: 1...6 as ClosedRange<UInt64>) func renewalsFollowTheFamilyOfTokens(seed: UInt64) async throws {
        var generator = SplitMix64(state: seed)
        let test = try TestAccounts {
            $0.hasLimits = false
            $0.accessLifetime = Self.day
        }
        let first = try await test.register("alice")
        var family = TokenFamily(at: test.time.withLockedValue { $0 })
        var tokens = [(access: first.access, refresh: first.refresh)]
        for _ in 0..<60 where !family.isRevoked {
            test.wait(Int64.random(in: 0...40_000, using: &generator))
            let now = test.time.withLockedValue { $0 }
            let generation = Int.random(in: max(1, tokens.count - 1)...tokens.count, using: &generator)
            if Bool.random(using: &generator) {
                _ = family.accessTokenUsed(generation: Int64(generation))
                _ = try? await test.accounts.session(access: tokens[generation - 1].access)
                continue
            }
            let action = family.refresh(generation: Int64(generation), at: now)
            let answer = try? await test.refresh(tokens[generation - 1].refresh)
            switch action {
            case .rotate:
                let answer = try #require(answer)
                tokens.append((answer.access, answer.refresh))
            case .repeatAnswer:
                let answer = try #require(answer)
                #expect(answer.refresh == tokens[tokens.count - 1].refresh)
                tokens[tokens.count - 1].access = answer.access
            case .revoke, .refuse: #expect(answer == nil)
            }
        }
        if family.isRevoked {
            for token in tokens {
                #expect(try await self.refused(test, access: token.access))
                #expect(try await self.refused(test, refresh: token.refresh))
            }
        }
    }

    // MARK: Ends

    @Test func anEndIsRepeatedWithoutAnEffect() async throws {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        let session = try await test.accounts.session(access: answer.access)
        try await test.accounts.logout(refresh: nil, session: session, from: test.client)
        let ended = test.ended.withLockedValue { $0 }
        #expect(Set(ended) == [session.device])
        #expect(try await test.database.read { try $0.device(session.device) } == nil)
        // The budget of the device is 20 renewals and ends, and a repetition is not charged.
        for _ in 0..<30 { try await test.accounts.logout(refresh: answer.refresh, session: nil, from: test.client) }
        #expect(test.ended.withLockedValue { $0 } == ended)
    }

    /// A logout needs no valid session, so that an expired client can sign out.
    @Test func anOldRefreshTokenEndsItsSession() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        let second = try await test.refresh(first.refresh)
        try await test.accounts.logout(refresh: first.refresh, session: nil, from: test.client)
        #expect(try await self.refused(test, access: second.access))
        #expect(try await self.refused(test, refresh: second.refresh))
    }

    @Test(arguments: [nil, "", "r.", "r.AAAA", "a.AAAA", "é"] as [String?]) func aLogoutWithoutASessionDoesNothing(token: String?)
        async throws
    {
        let test = try TestAccounts()
        let answer = try await test.register("alice")
        try await test.accounts.logout(refresh: token, session: nil, from: test.client)
        try await test.accounts.logout(refresh: answer.access, session: nil, from: test.client)
        #expect(test.ended.withLockedValue { $0.isEmpty })
        _ = try await test.accounts.session(access: answer.access)
    }

    @Test func aUserCannotEndTheDeviceOfAnother() async throws {
        let test = try TestAccounts()
        let alice = try await test.register("alice")
        let bobby = try await test.register("bobby")
        let session = try await test.accounts.session(access: alice.access)
        let refused = try await test.code { try await test.accounts.endDevices(bobby.device, of: session) }
        #expect(refused?.code == .notFound && refused?.field == "device")
        try await test.accounts.endDevices(nil, of: session)
        _ = try await test.accounts.session(access: bobby.access)
    }

    @Test func theOtherDevicesAreToldOfEachBeginAndEnd() async throws {
        let test = try TestAccounts()
        let changes = NIOLockedValueBox<[String]>([])
        test.accounts.onChange { list in changes.withLockedValue { $0.append(list.map { $0.isAdded ? "+" : "-" }.joined()) } }
        let first = try await test.register("alice")
        let second = try await test.login("alice")
        _ = try await test.login("alice")
        let session = try await test.accounts.session(access: second.access)
        try await test.accounts.endDevices(nil, of: session)
        // An end of no session tells nothing.
        try await test.accounts.endDevices(nil, of: session)
        try await test.accounts.logout(refresh: first.refresh, session: nil, from: test.client)
        #expect(changes.withLockedValue { $0 } == ["+", "+", "--"])
    }

    @Test func theAnswerToARemovalNamesTheNotesOfTheUser() async throws {
        let test = try TestAccounts()
        let first = try await test.register("alice")
        let second = try await test.login("alice")
        let session = try await test.accounts.session(access: second.access)
        let id = try #require(ClientID("r1"))
        let answer = try await test.accounts.endDevices(DeviceRemoveRequest(id: id, device: first.device), of: session)
        let own = try await test.database.read { try $0.accounts([session.user]).first?.selfConversation }
        #expect(answer.id == id && answer.seq == nil && answer.conversation.number == own?.rawValue)
        #expect(try await self.refused(test, access: first.access))
    }

    /// Sessions that ended while the disk was full are removed when it can be written, at most
    /// once.
    @Test func endsDuringAFullDiskAreSettled() async throws {
        let test = try TestAccounts()
        var tokens: [String] = []
        for name in ["alice", "bobby", "carol"] { tokens.append(try await test.register(name).refresh) }
        test.database.isFull.withLockedValue { $0 = true }
        for token in tokens.prefix(2) { try await test.accounts.logout(refresh: token, session: nil, from: test.client) }
        await #expect(throws: StorageError.self) { try await test.accounts.settleEndedSessions() }
        #expect(test.accounts.journal.devices.count == 2)
        test.database.isFull.withLockedValue { $0 = false }
        try await test.accounts.settleEndedSessions()
        try await test.accounts.settleEndedSessions()
        #expect(test.accounts.journal.devices.isEmpty)
        for token in tokens.prefix(2) { #expect(try await self.refused(test, refresh: token)) }
        _ = try await test.refresh(tokens[2])
    }
}
