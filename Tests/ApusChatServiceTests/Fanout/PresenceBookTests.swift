import ApusChatStorage
import Testing

@testable import ApusChatService

@Suite("Presence book")
struct PresenceBookTests {
    private let book = PresenceBook(maximumDepartures: 3)

    private func visit(_ user: Int64, until time: Int64) {
        self.book.set(UserKey(user), isOnline: true, at: time - 1)
        self.book.set(UserKey(user), isOnline: false, at: time)
    }

    private func departures(_ users: ClosedRange<Int64>) -> [Int64?] { users.map { self.book.departure(of: UserKey($0)) } }

    @Test func onlyTheOldestDeparturesAreDiscarded() {
        for user in Int64(1)...5 { self.visit(user, until: user * 10) }
        #expect(self.departures(1...5) == [nil, nil, 30, 40, 50])
        #expect(!self.book.isOnline(UserKey(5)))
    }

    @Test func aLaterDepartureOfAUserIsNotDiscardedWithTheEarlierOne() {
        for (user, time) in [(1, 10), (2, 20), (1, 30), (3, 40), (4, 50), (5, 60)] as [(Int64, Int64)] { self.visit(user, until: time) }
        #expect(self.departures(1...5) == [nil, nil, 40, 50, 60])
        self.visit(3, until: 70)
        self.visit(6, until: 80)
        #expect(self.departures(3...6) == [70, nil, 60, 80])
    }

    @Test func repeatedDeparturesTakeNoMemory() {
        self.visit(1, until: 5)
        for time in Int64(10)...1_000 { self.visit(2, until: time) }
        #expect(self.departures(1...2) == [5, 1_000])
        #expect(self.book.orderCount <= 6)
    }

    @Test func aUserThatWasNotOnlineHasNoDeparture() {
        self.book.set(UserKey(1), isOnline: false, at: 10)
        #expect(self.book.departure(of: UserKey(1)) == nil)
    }
}
