import ApusChatStorage
import Testing

@testable import ApusChatCore

@Suite struct JoinRequestQueueTests {
    private static let time: Int64 = 1_790_000_000_000
    private static let pause = JoinRequestQueue.pause
    private let one = ConversationKey(1)
    private let other = ConversationKey(2)

    @Test func theFirstRequestIsDueAtOnce() {
        var queue = JoinRequestQueue()
        #expect(queue.nextTime == nil && queue.takeDue(at: Self.time) == [])
        queue.add(self.other)
        queue.add(self.one)
        queue.add(self.one)
        #expect(queue.nextTime == 0)
        #expect(queue.takeDue(at: Self.time) == [self.one, self.other])
        #expect(queue.takeDue(at: Self.time) == [])
    }

    @Test func laterRequestsAreDueTogetherAfterThePause() {
        var queue = JoinRequestQueue()
        queue.notified(self.one, at: Self.time)
        for _ in 0..<1_000 { queue.add(self.one) }
        #expect(queue.takeDue(at: Self.time + Self.pause - 1) == [])
        #expect(queue.nextTime == Self.time + Self.pause)
        #expect(queue.takeDue(at: Self.time + Self.pause) == [self.one])
        #expect(queue.takeDue(at: Self.time + 2 * Self.pause) == [] && queue.nextTime == nil)
    }

    @Test func aPauseConcernsOneConversation() {
        var queue = JoinRequestQueue()
        queue.notified(self.one, at: Self.time)
        queue.add(self.one)
        queue.add(self.other)
        #expect(queue.takeDue(at: Self.time + 1) == [self.other])
        #expect(queue.nextTime == Self.time + Self.pause)
    }

    @Test func requestsWithoutANotificationBeginNoPause() {
        var queue = JoinRequestQueue()
        queue.add(self.one)
        #expect(queue.takeDue(at: Self.time) == [self.one])
        queue.add(self.one)
        #expect(queue.takeDue(at: Self.time) == [self.one])
    }

    /// A clock that was set back must not suppress notifications for years.
    @Test func aClockThatIsSetBackEndsThePause() {
        var queue = JoinRequestQueue()
        queue.notified(self.one, at: Self.time)
        queue.add(self.one)
        #expect(queue.takeDue(at: Self.time - 1) == [self.one])
    }

    @Test func theNumberOfConversationsIsBounded() {
        var queue = JoinRequestQueue()
        for number in 1...(JoinRequestQueue.maximumConversations + 5) { queue.add(ConversationKey(Int64(number))) }
        #expect(queue.takeDue(at: Self.time).count == JoinRequestQueue.maximumConversations)
    }
}
