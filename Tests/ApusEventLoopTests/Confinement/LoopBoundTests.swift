import ApusEventLoop
import NIOCore
import NIOEmbedded
import Testing

@Suite struct LoopBoundTests {
    private final class Log {
        var entries: [Int] = []
    }

    @Test func callsKeepTheirOrder() async throws {
        let loop = NIOAsyncTestingEventLoop()
        let log = NIOLoopBoundBox<Log>.sending(Log(), to: loop)
        log.onLoop { $0.entries.append(1) }
        try await loop.executeInContext {
            log.onLoop { $0.entries.append(2) }
            log.value.entries.append(3)
            #expect(log.value.entries == [1, 2, 3])
        }
    }

    @Test func aWeakReferenceCallsInALaterTurn() async throws {
        let loop = NIOAsyncTestingEventLoop()
        try await loop.executeInContext {
            let log = Log()
            WeakLoopBound(log, on: loop).inLaterTurn { $0.entries.append(1) }
            #expect(log.entries == [])
            loop.assumeIsolated().execute { #expect(log.entries == [1]) }
        }
        await loop.run()
    }

    @Test func aWeakReferenceDoesNotRetain() async throws {
        let loop = NIOAsyncTestingEventLoop()
        try await loop.executeInContext {
            let reference = WeakLoopBound(Log(), on: loop)
            #expect(reference.object == nil)
            reference.inLaterTurn { _ in Issue.record("the object was deallocated") }
        }
        await loop.run()
    }
}
