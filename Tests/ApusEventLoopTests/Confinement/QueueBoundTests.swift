import ApusEventLoop
import Testing

struct QueueBoundTests {
    private final class Counter {
        var count = 0
        func next() -> Int {
            self.count += 1
            return self.count
        }
    }

    private struct Failure: Error {}

    @Test func callsRunOneAtATime() async throws {
        let counter = QueueBound(Counter(), label: "apus.test")
        let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<100 { group.addTask { try await counter.run { $0.next() } } }
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(numbers.sorted() == Array(1...100))
    }

    @Test func anErrorReachesTheCaller() async throws {
        let counter = QueueBound(Counter(), label: "apus.test")
        await #expect(throws: Failure.self) { try await counter.run { _ in throw Failure() } }
        #expect(try await counter.run { $0.next() } == 1)
    }
}
