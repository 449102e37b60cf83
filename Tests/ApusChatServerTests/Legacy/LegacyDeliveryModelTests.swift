import ApusSeededRandom
import Testing

@testable import ApusChatServer

/// Random logs, acknowledgements and failures, compared with the messages that a delivery may
/// count as read.
@Suite("Model of a legacy delivery")
struct LegacyDeliveryModelTests {
    private struct Event {
        let seq: Int64
        /// The ordinal of a message; nil for a change.
        let n: Int64?
        /// Whether the app acknowledges the message.
        let isAwaited: Bool
    }

    /// The log, and what the app has received of it.
    private struct World {
        var generator: SplitMix64
        var log: [Event] = []
        var delivery = LegacyDelivery(next: 1)
        var fetching: Int64?
        var delivered: [Int64] = []
        /// The messages that wait for the app.
        var waiting: [Int64] = []
        /// The messages that the app answered, or that need no answer.
        var answered: Set<Int64> = []
        var unanswered: Set<Int64> = []
        var read: Int64 = 0

        mutating func append() {
            let n = Bool.random(using: &self.generator) ? Int64(self.log.compactMap(\.n).count + 1) : nil
            let isAwaited = n != nil && Int.random(in: 0..<5, using: &self.generator) > 0
            self.log.append(Event(seq: Int64(self.log.count + 1), n: n, isAwaited: isAwaited))
        }

        mutating func take(_ action: LegacyDelivery.Action) {
            guard case .fetch(let seq) = action else { return }
            #expect(self.fetching == nil, "a page is read after the one before it")
            #expect(self.waiting.isEmpty, "a page is read when all messages of the last one are answered")
            self.fetching = seq
        }

        mutating func take(_ read: Int64?) {
            guard let read else { return }
            #expect(read > self.read, "the read position moves forward")
            self.read = read
            let passed = self.log.compactMap(\.n).filter { $0 <= read }
            #expect(passed.allSatisfy { self.answered.contains($0) }, "no message is read before its answer")
        }

        /// Answers the current request with a page, with an empty page, or with an error.
        mutating func page(mayFail: Bool) {
            guard let first = self.fetching else { return }
            self.fetching = nil
            guard !mayFail || Int.random(in: 0..<6, using: &self.generator) > 0 else { return self.delivery.failed() }
            let count = Int.random(in: 1...4, using: &self.generator)
            let events = Array(self.log.drop { $0.seq < first }.prefix(count))
            self.delivered += events.map(\.seq)
            let awaited = events.filter(\.isAwaited).compactMap(\.n)
            self.waiting += awaited
            self.answered.formUnion(events.filter { !$0.isAwaited }.compactMap(\.n))
            let (read, action) = self.delivery.fetched(last: events.last?.seq, messages: events.compactMap(\.n), awaited: Set(awaited))
            self.take(read)
            self.take(action)
        }

        mutating func answer(mayFail: Bool) {
            guard let index = self.waiting.indices.randomElement(using: &self.generator) else { return }
            let n = self.waiting.remove(at: index)
            if mayFail, Int.random(in: 0..<8, using: &self.generator) == 0 {
                self.unanswered.insert(n)
                let action = self.delivery.unanswered(n)
                self.take(action)
            } else {
                self.answered.insert(n)
                let (read, action) = self.delivery.answered(n)
                self.take(read)
                self.take(action)
            }
        }

        mutating func announce() {
            guard let last = self.log.last else { return }
            // A push can name an older event than an earlier push did.
            let seq = Bool.random(using: &self.generator) ? last.seq : Int64.random(in: 1...last.seq, using: &self.generator)
            self.take(self.delivery.news(seq: seq))
        }
    }

    private func run(seed: UInt64, mayFail: Bool) -> World {
        var world = World(generator: SplitMix64(state: seed))
        for _ in 0..<600 {
            switch Int.random(in: 0..<5, using: &world.generator) {
            case 0: world.append()
            case 1: world.announce()
            case 2: world.page(mayFail: mayFail)
            default: world.answer(mayFail: mayFail)
            }
        }
        // The end of all faults: the rest is announced, read and answered.
        for _ in 0..<2_000 {
            if let last = world.log.last { world.take(world.delivery.news(seq: last.seq)) }
            world.page(mayFail: false)
            world.answer(mayFail: false)
        }
        return world
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>) func eachEventIsDeliveredOnceAndInOrder(seed: UInt64) {
        for mayFail in [false, true] {
            let world = self.run(seed: seed, mayFail: mayFail)
            #expect(world.delivered == world.log.map(\.seq))
        }
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>) func withAllAnswersEachMessageIsRead(seed: UInt64) {
        let world = self.run(seed: seed, mayFail: false)
        #expect(world.read == world.log.compactMap(\.n).last ?? 0)
    }

    /// The messages from the first unanswered one onward are delivered again by the next
    /// connection.
    @Test(arguments: 1...60 as ClosedRange<UInt64>) func theReadPositionEndsBeforeTheFirstUnansweredMessage(seed: UInt64) {
        let world = self.run(seed: seed, mayFail: true)
        guard let first = world.unanswered.min() else { return }
        #expect(world.read < first)
        // Messages before the last page without an answer were read.
        #expect(world.delivery.next == Int64(world.log.count + 1))
    }

    @Test(arguments: [Int64.min, -1, 0, 5, .max]) func anAnswerToAnotherMessageChangesNothing(n: Int64) {
        var delivery = LegacyDelivery(next: 1)
        #expect(delivery.answered(n).read == nil && delivery.unanswered(n) == .doNothing)
        #expect(delivery.news(seq: 2) == .fetch(from: 1))
        #expect(delivery.answered(n).action == .doNothing && delivery.unanswered(n) == .doNothing)
        let page = delivery.fetched(last: 2, messages: [1, 2], awaited: [1, 2])
        #expect(page.read == nil && page.action == .doNothing)
        #expect(delivery.answered(n).read == nil && delivery.unanswered(n) == .doNothing)
        _ = delivery.answered(1)
        #expect(delivery.answered(2).read == 2)
    }

    @Test func aPageThatWasNotRequestedIsIgnored() {
        var delivery = LegacyDelivery(next: 4)
        let page = delivery.fetched(last: 9, messages: [9], awaited: [])
        #expect(page.read == nil && page.action == .doNothing && delivery.next == 4)
        delivery.failed()
        #expect(delivery.news(seq: 4) == .fetch(from: 4))
    }
}
