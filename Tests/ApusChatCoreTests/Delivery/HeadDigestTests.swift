import ApusChatCore
import ApusChatStorage
import Testing

@Suite struct HeadDigestTests {
    private let group = ConversationKey(7)
    private let other = ConversationKey(8)

    private func batch(_ keys: ConversationKey..., deleted: [ConversationKey] = []) -> DecidedBatch {
        let pushes = keys.map { Push.events($0, first: 1, last: 1) }
        return DecidedBatch(changes: Changes(), pushes: pushes + [.head(ConversationKey(9), of: UserKey(1))], hidden: [], deleted: deleted)
    }

    @Test func aQuietConversationIsReportedOnce() {
        var digest = HeadDigest()
        #expect(digest.committed(self.batch(self.group), at: 0) == .schedule(after: .seconds(20)))
        #expect(digest.committed(self.batch(self.other), at: 5_000) == .doNothing)
        let first = digest.timerFired(at: 20_000)
        #expect(first.told == [self.group] && first.next == .schedule(after: .seconds(20)))
        let second = digest.timerFired(at: 40_000)
        #expect(second.told == [self.other] && second.next == .doNothing && digest.isEmpty)
    }

    @Test func aBusyConversationIsNotReported() {
        var digest = HeadDigest()
        for time: Int64 in [0, 15_000, 30_000, 45_000] { _ = digest.committed(self.batch(self.group), at: time) }
        #expect(digest.timerFired(at: 60_000).told == [])
        #expect(digest.timerFired(at: 65_000).told == [self.group])
    }

    @Test func aDeletedConversationIsNotReported() {
        var digest = HeadDigest()
        _ = digest.committed(self.batch(self.group), at: 0)
        _ = digest.committed(self.batch(deleted: [self.group]), at: 1)
        let fired = digest.timerFired(at: 20_000)
        #expect(fired.told == [] && fired.next == .doNothing)
    }

    @Test func withoutChangesNoTimerRuns() {
        var digest = HeadDigest()
        #expect(digest.committed(self.batch(), at: 0) == .doNothing)
        #expect(digest.timerFired(at: 20_000).next == .doNothing)
    }
}
