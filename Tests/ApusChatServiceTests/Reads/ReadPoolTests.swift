import ApusChatCore
import ApusChatProtocol
import ApusChatService
import ApusChatStorage
import Dispatch
import NIOConcurrencyHelpers
import Testing

/// The order of the reads of several users, and refusals.
@Suite(.timeLimit(.minutes(5)))
struct ReadPoolTests {
    private let order = NIOLockedValueBox<[Int64]>([])

    /// Calls `submit` while a read occupies the only thread of a pool, and waits for all reads.
    ///
    /// - Returns: The error code of each read; nil for a read that succeeded.
    private func run(_ pool: ReadPool, _ submit: ((_ user: Int64) -> Void) -> Void) async -> [ChatError.Code?] {
        let (gate, order) = (DispatchSemaphore(value: 0), self.order)
        let (results, continuation) = AsyncStream.makeStream(of: ChatError.Code?.self)
        var count = 1
        pool.read(for: UserKey(100), { _ in gate.wait() }) { _ in continuation.yield(nil) }
        submit { user in
            count += 1
            pool.read(for: UserKey(user), { _ in order.withLockedValue { $0.append(user) } }) { result in
                if case .failure(let error) = result { continuation.yield(error.code) } else { continuation.yield(nil) }
            }
        }
        gate.signal()
        var codes: [ChatError.Code?] = []
        for await code in results {
            codes.append(code)
            if codes.count == count { break }
        }
        return codes
    }

    @Test func aFloodOfReadsDelaysOthersByOneTurn() async {
        let pool = ReadPool(threads: 1) { MemoryStorage() }
        let codes = await self.run(pool) { submit in
            for _ in 0..<30 { submit(1) }
            for user in 2...4 as ClosedRange<Int64> { submit(user) }
        }
        #expect(codes.allSatisfy { $0 == nil })
        let order = self.order.withLockedValue { $0 }
        #expect(order.count == 33)
        // One read of each user runs before the second one of the flood.
        #expect(Set(order.prefix(4)) == [1, 2, 3, 4])
        await pool.close()
    }

    @Test func theWaitingRequestsOfOneUserAreBounded() async {
        let pool = ReadPool(threads: 1, bounds: .init(underWay: 1, waitingOfUser: 3, waiting: 5)) { MemoryStorage() }
        let codes = await self.run(pool) { submit in
            for _ in 0..<5 { submit(1) }
            for _ in 0..<3 { submit(2) }
        }
        #expect(codes.filter { $0 == .tooMany }.count == 2, "of the first user")
        #expect(codes.filter { $0 == .unavailable }.count == 1, "of all users together")
        #expect(self.order.withLockedValue { $0.sorted() } == [1, 1, 1, 2, 2])
        await pool.close()
    }

    @Test func aReadThatThrowsFailsAlone() async throws {
        struct Fault: Error {}
        let pool = ReadPool(threads: 1) { MemoryStorage() }
        let cases: [(any Error, ChatError.Code)] = [
            (Fault(), .internal), (StorageError(.io, message: "disk"), .unavailable),
            (WireError(.invalid, field: "x", rule: "fails"), .badRequest),
            (ChatError(.notFound, message: "none"), .notFound),
        ]
        for (fault, code) in cases {
            await #expect {
                try await pool.read(for: UserKey(1)) { _ -> Int in throw fault }
            } throws: { ($0 as? ChatError)?.code == code }
            #expect(try await pool.read(for: UserKey(1)) { _ in 7 } == 7)
        }
        await pool.close()
    }

    /// Two reads of a user run, which is the maximum, and the third one waits.
    @Test func aPoolThatClosesRefusesWaitingReads() async {
        let pool = ReadPool(threads: 2, bounds: .init(underWay: 2, waitingOfUser: 3, waiting: 5)) { MemoryStorage() }
        let gate = DispatchSemaphore(value: 0)
        let (started, starter) = AsyncStream.makeStream(of: Void.self)
        let results = NIOLockedValueBox<[String]>([])
        let note: @Sendable (String, Result<Void, ChatError>) -> Void = { name, result in
            let end = if case .failure(let error) = result { error.code.rawValue } else { "read" }
            results.withLockedValue { $0.append("\(name) \(end)") }
        }
        for _ in 0..<2 {
            pool.read(
                for: UserKey(1),
                { _ in
                    starter.yield()
                    gate.wait()
                }
            ) { note("running", $0) }
        }
        var starts = started.makeAsyncIterator()
        for _ in 0..<2 { await starts.next() }
        pool.read(for: UserKey(1), { _ in }) { result in
            note("waiting", result)
            // The close refuses this read first. The running reads end afterwards.
            gate.signal()
            gate.signal()
        }
        await pool.close()
        #expect(results.withLockedValue { $0 } == ["waiting unavailable", "running read", "running read"])
    }

    @Test func aClosedPoolRefuses() async {
        let pool = ReadPool(threads: 1) { MemoryStorage() }
        await pool.close()
        await #expect { try await pool.read(for: UserKey(1)) { _ in 7 } } throws: { ($0 as? ChatError)?.code == .unavailable }
    }
}
