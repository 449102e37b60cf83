import ApusFramedProtocol
@testable import ApusFramedSocket
import NIOConcurrencyHelpers
import Testing

@Suite struct FramedTurnsTests {
    private static let closed = FramedError(.closed, message: "closed")

    @Test func oneHasTheTurnAndTheNextGetsIt() async throws {
        let turns = SendSerializer()
        let first = turns.makePermit()
        try await turns.take(first)
        let order = NIOLockedValueBox<[Int]>([])
        let second = turns.makePermit()
        let task = Task {
            try await turns.take(second)
            order.withLockedValue { $0.append(2) }
            turns.giveBack(second)
        }
        order.withLockedValue { $0.append(1) }
        turns.giveBack(first)
        try await task.value
        #expect(order.withLockedValue { $0 } == [1, 2])
    }

    @Test func aWaitingPermitCanBeCancelled() async throws {
        let turns = SendSerializer()
        let first = turns.makePermit()
        try await turns.take(first)
        let second = turns.makePermit()
        let task = Task { try await turns.take(second) }
        #expect(!turns.giveUp(second, because: Self.closed))  // before or during its wait
        await #expect(throws: FramedError.self) { try await task.value }
        #expect(turns.giveUp(first, because: Self.closed))
        turns.giveBack(first)
        #expect(!turns.giveUp(first, because: Self.closed))
        try await turns.take(turns.makePermit())
    }

    @Test func cancellationEndsTheWait() async throws {
        let turns = SendSerializer()
        let first = turns.makePermit()
        try await turns.take(first)
        let task = Task { try await turns.take(turns.makePermit()) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        turns.giveBack(first)
        try await turns.take(turns.makePermit())
    }

    @Test func theEndRefusesAllButTheGrantedPermit() async throws {
        let turns = SendSerializer()
        let first = turns.makePermit()
        try await turns.take(first)
        let task = Task { try await turns.take(turns.makePermit()) }
        let idle = NIOLockedValueBox(0)
        turns.end(Self.closed) { idle.withLockedValue { $0 += 1 } }
        await #expect(throws: FramedError.self) { try await task.value }
        await #expect(throws: FramedError.self) { try await turns.take(turns.makePermit()) }
        #expect(idle.withLockedValue { $0 } == 0)
        turns.giveBack(first)
        #expect(idle.withLockedValue { $0 } == 1)
        turns.end(Self.closed) { idle.withLockedValue { $0 += 10 } }
        #expect(idle.withLockedValue { $0 } == 11)
    }
}
