import Testing

@testable import ApusChatCore

@Suite("Unread messages")
struct UnreadCounterTests {
    /// The server counted 10 messages, of which 6 to 10 are unread.
    private let counter = UnreadCounter(n: 10, read: 5, unread: 5)

    @Test func messagesAboveTheStatementCount() {
        #expect(self.counter.count(read: 5, last: 10) == 5)
        #expect(self.counter.count(read: 5, last: 13) == 8)
    }

    @Test func ownAndHiddenMessagesDoNotCount() {
        var counter = self.counter
        for n: Int64 in [12, 11, 12, 9] { counter.skip(n) }
        #expect(counter.count(read: 5, last: 13) == 6, "the server did not count 9 either")
        #expect(counter.count(read: 8, last: 13) == 2)
    }

    @Test func aPositionOfTheUserIsAppliedBeforeTheServerKnowsIt() {
        #expect(self.counter.count(read: 8, last: 10) == 2)
        #expect(self.counter.count(read: 12, last: 13) == 1)
        #expect(self.counter.count(read: 13, last: 13) == 0)
    }

    @Test func anAnswerAndAPushGiveTheSameInEitherOrder() {
        var counter = self.counter
        // Two messages arrive, one of them from the user, and then the answer to a mark that had
        // seen one.
        counter.skip(12)
        counter.told(n: 11, read: 9, unread: 2)
        #expect(counter.count(read: 9, last: 12) == 2)
        counter.told(n: 12, read: 9, unread: 2)
        #expect(counter.count(read: 9, last: 12) == 2)
    }

    @Test func anOlderStatementIsIgnoredUnlessItIsThatOfASync() {
        var counter = self.counter
        counter.told(n: 9, read: 5, unread: 4)
        #expect(counter.count(read: 5, last: 10) == 5)
        counter.reset(n: 9, read: 5, unread: 0)
        #expect(counter.count(read: 5, last: 10) == 1)
    }

    @Test func theKeptOrdinalsAreBounded() {
        var counter = self.counter
        for n: Int64 in 11...400 { counter.skip(n) }
        #expect(counter.count(read: 5, last: 400) == 5 + 390 - 256)
        counter.told(n: 400, read: 5, unread: 5)
        #expect(counter.count(read: 5, last: 400) == 5)
    }
}
