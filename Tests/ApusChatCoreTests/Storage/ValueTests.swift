import ApusChatProtocol
import ApusChatStorage
import Testing

/// The small values of the storage boundary.
@Suite struct ValueTests {
    @Test func aTableRecordsAbsentRows() {
        var table = FactTable<Int, String>()
        table.load(1, "a")
        table.load(2, nil)
        table.load(1, "b")
        #expect(table[1] == "a", "a loaded row is not replaced")
        #expect(table[2] == nil)
        #expect(table.isLoaded(2))
        #expect(!table.isLoaded(3))
        #expect(table.changed.isEmpty)
    }

    @Test func changedRowsAreListedOnceInOrder() {
        var table = FactTable<Int, String>()
        for key in 1...3 { table.load(key, "\(key)") }
        table.modify(3) { $0 += "x" }
        table.modify(1) { $0 += "y" }
        table.modify(3) { $0 += "z" }
        table.modify(9) { $0 += "?" }
        table.set(4, "new")
        table.set(4, "newer")
        table.load(4, "old")
        #expect(table.changed == ["3xz", "1y", "newer"])
        table.removeAll()
        #expect(table[1] == nil)
        #expect(table.changed.isEmpty)
    }

    @Test func anAbsentRowIsNotModified() {
        var table = FactTable<Int, String>()
        table.load(1, nil)
        table.modify(1) { $0 += "x" }
        #expect(table[1] == nil)
        #expect(table.changed.isEmpty)
    }

    @Test func hashesHave32Bytes() throws {
        let bytes = (0..<32).map { UInt8($0) }
        let hash = try #require(RequestHash(bytes: bytes))
        #expect(hash.bytes == bytes)
        #expect(hash.words.0 == 0x0001_0203_0405_0607)
        #expect(RequestHash(bytes: Array(bytes.dropLast())) == nil)
        #expect(hash != RequestHash(0x0001_0203_0405_0607, 0, 0, 0))
    }

    @Test(arguments: ["memory.12", "e.1.2"]) func positionsAreTexts(text: String) {
        #expect(SyncPosition(text)?.description == text)
    }

    @Test(arguments: ["", ".", "a.", ".1", "abc"]) func otherTextsAreNotPositions(text: String) { #expect(SyncPosition(text) == nil) }

    @Test func pinnedHeadsComeFirstThenTheNewest() {
        func cursor(_ key: Int64, pinned: Int64 = 0, at: Int64) -> HeadsCursor {
            HeadsCursor(pinnedAt: pinned, lastAt: at, conversation: ConversationKey(key))
        }
        let ordered = [
            cursor(5, pinned: 9, at: 1), cursor(4, pinned: 8, at: 100), cursor(3, at: 50), cursor(1, at: 40), cursor(2, at: 40),
        ]
        #expect(ordered.shuffled().sorted() == ordered)
    }

    @Test func aPairHasOneAddress() {
        #expect(PairAddress(UserKey(2), UserKey(1)) == PairAddress(UserKey(1), UserKey(2)))
        #expect(PairAddress(UserKey(2), UserKey(1)).low == UserKey(1))
    }

    @Test func unreadCountsAboveTheHigherOfReadAndFloor() {
        var member = MemberRow(address: MemberAddress(ConversationKey(1), UserKey(1)), role: .member, state: .joined)
        #expect(member.unread(lastN: 10) == 10)
        member.readN = 4
        member.floorN = 6
        member.skipped = 1
        #expect(member.unread(lastN: 10) == 3)
        #expect(member.unread(lastN: 5) == 0, "never negative")
        member.state = .left
        #expect(member.unread(lastN: 10) == 0)
    }

    @Test func aBlankEventKeepsItsPlaceOnly() {
        var event = EventRow(
            conversation: ConversationKey(1), seq: 2, n: 1, sender: UserKey(3), at: 4, kind: .poll, body: "{}", expiresAt: 9,
            mentions: [UserKey(1)], mentionsAll: true)
        event.votes = [1]
        event.isPinned = true
        event.blank(.recalled)
        #expect(event.body.isEmpty && event.mentions.isEmpty && event.votes.isEmpty)
        #expect(!event.mentionsAll && !event.isPinned && event.expiresAt == 0)
        #expect(event.seq == 2 && event.n == 1 && event.sender == UserKey(3) && event.at == 4)
    }
}
