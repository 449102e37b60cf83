import ApusChatProtocol
import ApusChatStorage
import Testing

@testable import ApusChatSQLite

/// The rows of recent batches in two generations.
@Suite struct HotRowsTests {
    private func conversation(_ key: Int64, members: [Int64] = []) -> HotConversation {
        let row = ConversationRow(key: ConversationKey(key), kind: .group, createdAt: 0, settings: ConversationSettings())
        let conversation = HotConversation(slot: key, row: row, lastSeq: 0, lastN: 0)
        for user in members {
            conversation.members[UserKey(user)] = MemberRow(address: MemberAddress(row.key, UserKey(user)), role: .member, state: .joined)
        }
        return conversation
    }

    private func found(_ rows: inout HotRows, _ keys: ClosedRange<Int64>) -> [Int64] {
        keys.filter { rows.find(ConversationKey($0)) != nil }
    }

    @Test func rowsThatAreUsedSurviveAndOthersDoNot() {
        var rows = HotRows(capacity: 2)
        for key in 1...3 as ClosedRange<Int64> { rows.insert(self.conversation(key)) }
        rows.age()  // 3 rows: a new generation
        let old = self.found(&rows, 1...1)
        #expect(old == [1], "a row of the old generation is found")
        for key in 4...5 as ClosedRange<Int64> { rows.insert(self.conversation(key)) }
        rows.age()  // 1, 4 and 5 are the old generation now
        let found = self.found(&rows, 1...5)
        #expect(found == [1, 4, 5])
    }

    @Test func aGenerationThatIsNotFullStays() {
        var rows = HotRows(capacity: 3)
        for key in 1...3 as ClosedRange<Int64> { rows.insert(self.conversation(key)) }
        for _ in 0..<3 { rows.age() }
        let found = self.found(&rows, 1...3)
        #expect(found == [1, 2, 3])
    }

    /// All members count, so that a few large conversations fill a generation.
    @Test func membersCount() {
        for (members, added, isFull) in [(2, 0, false), (3, 0, true), (0, 2, false), (0, 3, true), (1, 1, false), (1, 2, true)] {
            var rows = HotRows(capacity: 3)
            rows.insert(self.conversation(1, members: Array(stride(from: 1, through: Int64(members), by: 1))))
            rows.addWeight(added)
            rows.age()
            // A full generation is replaced, and removed when the next one is full.
            for key in 2...6 as ClosedRange<Int64> { rows.insert(self.conversation(key)) }
            rows.age()
            let isLost = rows.find(ConversationKey(1)) == nil
            #expect(isLost == isFull, "\(members) members, \(added) added")
        }
    }

    @Test func aRowThatMovedIsTheSameObject() {
        var rows = HotRows(capacity: 0)
        let first = self.conversation(1)
        rows.insert(first)
        rows.age()
        let found = rows.find(ConversationKey(1))
        #expect(found === first)
        rows.age()
        let again = rows.find(ConversationKey(1))
        #expect(again === first, "the use moved it to the young generation")
    }

    @Test func aMemberIsModifiedInBothGenerations() {
        var rows = HotRows(capacity: 1)
        rows.insert(self.conversation(1, members: [7, 8]))
        rows.age()
        rows.insert(self.conversation(2, members: [7]))
        rows.insert(self.conversation(3, members: [8]))
        rows.modify(UserKey(7)) { $0.folders = 5 }
        for (key, folders) in [(1, 5), (2, 5), (3, nil)] as [(Int64, UInt64?)] {
            let found = rows.find(ConversationKey(key))
            #expect(found != nil && found?.members[UserKey(7)]?.folders == folders)
        }
        let other = rows.find(ConversationKey(1))
        #expect(other?.members[UserKey(8)]?.folders == 0)
    }

    @Test func nothingIsLeftAfterAFailure() {
        var rows = HotRows(capacity: 1)
        for key in 1...2 as ClosedRange<Int64> { rows.insert(self.conversation(key)) }
        rows.age()
        rows.insert(self.conversation(3))
        rows.removeAll()
        let found = self.found(&rows, 1...3)
        #expect(found == [])
        // A new generation has no weight.
        rows.insert(self.conversation(4))
        rows.age()
        rows.insert(self.conversation(5))
        rows.insert(self.conversation(6))
        rows.age()
        let again = self.found(&rows, 4...4)
        #expect(again == [4])
    }
}
