import ApusChatStorage
import NIOConcurrencyHelpers
import Testing

@testable import ApusChatHTTP

@Suite(.timeLimit(.minutes(5))) struct MediaQueueTests {
    @Test func theNumberOfWorksAtTheSameTimeIsBounded() async throws {
        let queue = MediaQueue(maximum: 2)
        let counts = NIOLockedValueBox((now: 0, most: 0, done: 0))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask {
                    try? await queue.run(for: UserKey(Int64(index % 3))) {
                        counts.withLockedValue {
                            $0.now += 1
                            $0.most = max($0.most, $0.now)
                        }
                        for _ in 0..<10 { await Task.yield() }
                        counts.withLockedValue {
                            $0.now -= 1
                            $0.done += 1
                        }
                    }
                }
            }
        }
        #expect(counts.withLockedValue { $0.done } == 20)
        #expect(counts.withLockedValue { $0.most } <= 2)
    }

    @Test func aFullQueueRefusesAndAFailureGivesItsPlaceBack() async throws {
        let queue = MediaQueue(maximum: 1, waiting: 4)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (started, starter) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await queue.run(for: UserKey(1)) {
                starter.finish()
                for await _ in gate {}
                throw ToolFailure.timedOut
            }
        }
        for await _ in started {}
        let second = Task { try await queue.run(for: UserKey(1)) { 2 } }
        while !queue.isWaiting { await Task.yield() }
        // The share of a user is a quarter of the places.
        await #expect(throws: ToolFailure.unavailable) { try await queue.run(for: UserKey(1)) {} }
        opener.finish()
        await #expect(throws: ToolFailure.timedOut) { try await first.value }
        #expect(try await second.value == 2)
    }

    @Test func aClosedQueueRefusesJobsOfAUserWithTheMaximumOfRunningJobs() async throws {
        let queue = MediaQueue(maximum: 2)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let started = NIOLockedValueBox(0)
        let running = (0..<2).map { _ in
            Task {
                try await queue.run(for: UserKey(1)) {
                    started.withLockedValue { $0 += 1 }
                    for await _ in gate {}
                }
            }
        }
        while started.withLockedValue({ $0 }) < 2 { await Task.yield() }
        let waiting = Task { try await queue.run(for: UserKey(1)) { started.withLockedValue { $0 += 1 } } }
        while !queue.isWaiting { await Task.yield() }
        queue.close()
        await #expect(throws: ToolFailure.unavailable) { try await waiting.value }
        opener.finish()
        for job in running { try await job.value }
        #expect(started.withLockedValue { $0 } == 2)
    }

    @Test func aClosedQueueRefusesWaitingJobs() async throws {
        let queue = MediaQueue(maximum: 1)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let (started, starter) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            try await queue.run(for: UserKey(1)) {
                starter.finish()
                for await _ in gate {}
            }
        }
        for await _ in started {}
        let second = Task { try await queue.run(for: UserKey(2)) {} }
        while !queue.isWaiting { await Task.yield() }
        queue.close()
        await #expect(throws: ToolFailure.unavailable) { try await second.value }
        await #expect(throws: ToolFailure.unavailable) { try await queue.run(for: UserKey(3)) {} }
        opener.finish()
        try await first.value
    }
}
