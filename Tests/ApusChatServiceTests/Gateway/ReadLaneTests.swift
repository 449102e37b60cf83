import NIOConcurrencyHelpers
import Testing

@testable import ApusChatService

@Suite struct ReadLaneTests {
    /// A client whose connection is drained when the test calls `reads()`.
    private final class Client: Sendable {
        private let waiting = NIOLockedValueBox<[@Sendable () -> Void]>([])

        var count: Int { self.waiting.withLockedValue { $0.count } }

        func whenDrained(_ body: @escaping @Sendable () -> Void) { self.waiting.withLockedValue { $0.append(body) } }

        func reads() {
            let bodies = self.waiting.withLockedValue { waiting in
                defer { waiting = [] }
                return waiting
            }
            for body in bodies { body() }
        }
    }

    private let client = Client()
    private let lane: ReadLane
    private let begun = NIOLockedValueBox<[Int]>([])

    private var numbers: [Int] { self.begun.withLockedValue { $0 } }

    init() { self.lane = ReadLane(whenDrained: self.client.whenDrained) }

    private func run(_ number: Int) {
        let begun = self.begun
        self.lane.run { begun.withLockedValue { $0.append(number) } }
    }

    @Test func theNextRunsWhenTheAnswerBeforeHasLeft() {
        for number in 1...3 { self.run(number) }
        #expect(self.numbers == [1])
        self.lane.answered()
        #expect(self.numbers == [1] && self.client.count == 1)
        self.client.reads()
        #expect(self.numbers == [1, 2])
        self.run(4)
        for expected in [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4]] {
            self.lane.answered()
            self.client.reads()
            #expect(self.numbers == expected)
        }
        self.run(5)  // the lane is free
        #expect(self.numbers == [1, 2, 3, 4, 5])
    }

    @Test func waitingReadsAreDroppedAtTheEndOfTheConnection() {
        for number in 1...3 { self.run(number) }
        self.lane.close()
        self.run(4)
        self.lane.answered()
        self.client.reads()
        #expect(self.numbers == [1])
    }
}
