import ApusChatStorage
import ApusSeededRandom
import Testing

@testable import ApusChatCore

/// Random requests to join and notifications, compared with a model by conversation.
@Suite struct JoinRequestModelTests {
    private struct Model {
        var waiting: Set<Int64> = []
        var pauses: [Int64: Int64] = [:]

        func isPaused(_ key: Int64, at time: Int64) -> Bool {
            guard let end = self.pauses[key] else { return false }
            return end > time && end <= time + JoinRequestQueue.pause
        }

        mutating func takeDue(at time: Int64) -> [Int64] {
            // A pause that has ended, or began before the clock was set back, does not return.
            for key in self.pauses.keys where !self.isPaused(key, at: time) { self.pauses[key] = nil }
            let due = self.waiting.filter { self.pauses[$0] == nil }.sorted()
            self.waiting.subtract(due)
            return due
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>) func requestsAreDueByTheirConversation(seed: UInt64) {
        var generator = SplitMix64(state: seed)
        var queue = JoinRequestQueue()
        var model = Model()
        var time: Int64 = 1_790_000_000_000
        for _ in 0..<400 {
            let key = Int64.random(in: 1...6, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                queue.add(ConversationKey(key))
                model.waiting.insert(key)
            case 4..<7:
                let due = queue.takeDue(at: time)
                #expect(due.map(\.rawValue) == model.takeDue(at: time))
                for key in due where Bool.random(using: &generator) {
                    queue.notified(key, at: time)
                    model.pauses[key.rawValue] = time + JoinRequestQueue.pause
                }
            case 7: time -= Int64.random(in: 0...2 * JoinRequestQueue.pause, using: &generator)
            default: time += Int64.random(in: 0...JoinRequestQueue.pause, using: &generator)
            }
            #expect(queue.nextTime == model.waiting.map { model.pauses[$0] ?? 0 }.min())
        }
    }

    /// At the next time that the queue names, at least one conversation is due.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func theNextTimeIsExact(seed: UInt64) throws {
        var generator = SplitMix64(state: seed)
        var queue = JoinRequestQueue()
        let start: Int64 = 1_790_000_000_000
        for key in 1...10 as ClosedRange<Int64> {
            queue.notified(ConversationKey(key), at: start + Int64.random(in: 0...1_000, using: &generator))
            queue.add(ConversationKey(key))
        }
        var taken = 0
        while let next = queue.nextTime {
            var early = queue
            #expect(early.takeDue(at: next - 1).isEmpty)
            let due = queue.takeDue(at: next)
            #expect(!due.isEmpty)
            taken += due.count
        }
        #expect(taken == 10)
    }

    /// The number of pauses is bounded too. A conversation beyond the bound has no pause.
    @Test func theNumberOfPausesIsBounded() {
        var queue = JoinRequestQueue()
        let maximum = Int64(JoinRequestQueue.maximumConversations)
        for key in 1...maximum + 1 { queue.notified(ConversationKey(key), at: 0) }
        queue.notified(ConversationKey(1), at: 5)
        for key in [1, maximum, maximum + 1] { queue.add(ConversationKey(key)) }
        #expect(queue.takeDue(at: 5) == [ConversationKey(maximum + 1)])
        #expect(queue.takeDue(at: JoinRequestQueue.pause) == [ConversationKey(maximum)])
        #expect(queue.takeDue(at: JoinRequestQueue.pause + 5) == [ConversationKey(1)])
    }
}
