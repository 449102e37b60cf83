import NIOConcurrencyHelpers
import NIOCore
import NIOEmbedded
import Testing

@testable import ApusEventLoop

@Suite(.timeLimit(.minutes(5))) struct LoopOperationTests {
    private struct Failure: Error {}
    private struct Late: Error {}

    private let loop = NIOAsyncTestingEventLoop()

    /// Starts an operation in a task, and returns both when it runs.
    private func begin(
        _ prepare: @escaping @Sendable (LoopOperation<Int>) -> Void = { _ in }
    ) async throws -> (LoopOperation<Int>, Task<Int, any Error>) {
        let loop = self.loop
        let (stream, continuation) = AsyncStream.makeStream(of: LoopOperation<Int>.self)
        let task = Task {
            try await withLoopOperation(on: loop) { operation in
                prepare(operation)
                continuation.yield(operation)
                continuation.finish()
            }
        }
        var iterator = stream.makeAsyncIterator()
        // The task has to reach the event loop, which runs only when `run()` is called.
        let pump = Task { while !Task.isCancelled { await loop.run(); await Task.yield() } }
        defer { pump.cancel() }
        return (try #require(await iterator.next()), task)
    }

    @Test func theFirstEndCounts() async throws {
        let (operation, task) = try await self.begin { $0.expire(in: .seconds(1)) { Late() } }
        try await self.loop.executeInContext {
            #expect(operation.isRunning)
            operation.succeed(1)
            operation.fail(Failure())
            #expect(!operation.isRunning)
        }
        await self.loop.advanceTime(by: .seconds(2))
        #expect(try await task.value == 1)
    }

    @Test func anErrorEndsIt() async throws {
        let (operation, task) = try await self.begin()
        try await self.loop.executeInContext { operation.fail(Failure()) }
        await #expect(throws: Failure.self) { try await task.value }
    }

    @Test func theDeadlineEndsIt() async throws {
        let (operation, task) = try await self.begin { $0.expire(in: .seconds(5)) { Late() } }
        await self.loop.advanceTime(by: .seconds(5))
        await #expect(throws: Late.self) { try await task.value }
        try await self.loop.executeInContext { operation.succeed(1) }  // late, without effect
    }

    @Test func aCancellationEndsIt() async throws {
        let (operation, task) = try await self.begin()
        task.cancel()
        await self.loop.run()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await self.loop.executeInContext { #expect(!operation.isRunning) }
    }

    @Test func theOperationDecidesHowItIsCancelled() async throws {
        let cancelled = NIOLockedValueBox(false)
        let (operation, task) = try await self.begin { $0.whenCancelled { cancelled.withLockedValue { $0 = true } } }
        task.cancel()
        await self.loop.run()
        #expect(cancelled.withLockedValue { $0 })
        try await self.loop.executeInContext {
            #expect(operation.isRunning)
            operation.succeed(2)
        }
        #expect(try await task.value == 2)
    }

    @Test func aCancelledTaskStartsNothing() async throws {
        let loop = self.loop
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await withLoopOperation(on: loop, returning: Int.self) { _ in Issue.record("it started") }
        }
        let pump = Task { while !Task.isCancelled { await loop.run(); await Task.yield() } }
        await #expect(throws: CancellationError.self) { try await task.value }
        pump.cancel()
    }

    @Test func aListForgetsOperationsThatHaveEnded() async throws {
        let (first, firstTask) = try await self.begin()
        let (second, secondTask) = try await self.begin()
        try await self.loop.executeInContext {
            var operations = LoopOperations<Int>()
            operations.append(first)
            first.succeed(1)
            operations.append(second)
            let waiting = operations.takeAll()
            #expect(waiting.count == 1)
            #expect(operations.takeAll().isEmpty)
            for operation in waiting { operation.succeed(2) }
        }
        #expect(try await firstTask.value == 1)
        #expect(try await secondTask.value == 2)
    }
}
