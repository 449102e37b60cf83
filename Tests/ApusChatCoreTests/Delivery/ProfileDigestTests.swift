import ApusChatCore
import ApusChatStorage
import Testing

@Suite struct ProfileDigestTests {
    private func batch(_ users: some Sequence<Int64>) -> DecidedBatch {
        DecidedBatch(changes: Changes(), pushes: users.map { .profile(UserKey($0)) } + [.user(UserKey(1), subject: UserKey(1))], hidden: [])
    }

    @Test func aChangeIsReportedOnce() {
        var digest = ProfileDigest()
        #expect(digest.committed(self.batch([])) == .doNothing)
        #expect(digest.committed(self.batch([7, 7])) == .schedule(after: .seconds(1)))
        #expect(digest.committed(self.batch([8, 7])) == .doNothing)
        let fired = digest.timerFired()
        #expect(fired.told == [UserKey(7), UserKey(8)] && fired.next == .doNothing)
        #expect(digest.committed(self.batch([7])) == .schedule(after: .seconds(1)), "a later change is told again")
    }

    @Test func aTurnIsBounded() {
        var digest = ProfileDigest()
        _ = digest.committed(self.batch(1...6))
        let first = digest.timerFired()
        #expect(first.told.map(\.rawValue) == [1, 2, 3, 4] && first.next == .schedule(after: .seconds(1)))
        let second = digest.timerFired()
        #expect(second.told.map(\.rawValue) == [5, 6] && second.next == .doNothing)
    }

    @Test func theNumberOfWaitingUsersIsBounded() {
        var digest = ProfileDigest()
        _ = digest.committed(self.batch(1...Int64(ProfileDigest.waiting + 5)))
        var count = 0
        var next = ProfileDigest.Action.schedule(after: .seconds(1))
        while next != .doNothing {
            let fired = digest.timerFired()
            count += fired.told.count
            next = fired.next
        }
        #expect(count == ProfileDigest.waiting)
    }
}
