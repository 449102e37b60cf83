import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatServer

@Suite struct LegacyUsersTests {
    private func entry(_ number: Int64, find: Audience = .all) -> LegacyUsers.Entry {
        var row = AccountRow(
            key: UserKey(number), name: UserName(prepared: "user\(number)"), nickname: "", selfConversation: ConversationKey(number))
        row.privacy.find = find
        return LegacyUsers.Entry(row: row)
    }

    /// Reads the list of a server with `count` accounts, of which only contacts find every tenth.
    ///
    /// - Returns: The keys of the listed accounts, and the number of pages that were read.
    private func list(_ count: Int64) async throws -> (keys: [Int64], pages: Int) {
        var pages = 0
        let entries = try await LegacyUsers.entries { after in
            pages += 1
            let first = (after?.rawValue ?? 0) + 1
            guard first <= count else { return [] }
            return (first...min(count, first + 199)).map { self.entry($0, find: $0.isMultiple(of: 10) ? .contacts : .all) }
        }
        return (entries.map(\.row.key.rawValue), pages)
    }

    @Test func accountsThatAreNotFoundAreOmitted() async throws {
        let (keys, pages) = try await self.list(401)
        #expect(keys == (1...401).filter { !$0.isMultiple(of: 10) })
        #expect(pages == 4, "three pages and the end")
        #expect(try await self.list(0).keys.isEmpty)
    }

    @Test func theListHasAtMost2000Accounts() async throws {
        let (keys, pages) = try await self.list(10_000)
        #expect(keys.count == 2_000 && keys == (1...10_000).filter { !$0.isMultiple(of: 10) }.prefix(2_000).map { $0 })
        #expect(pages == 12, "no further page is read")
    }
}
