import DequeModule
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Performs disk work in order, on one thread of the pool at a time.
///
/// Work that is submitted while a thread is busy is performed by the same thread. This avoids a
/// thread switch, which takes as long as reading 100 KiB. The callers bound the amount of waiting
/// work.
final class SerialDiskQueue: Sendable {
    /// The number of work items after which the thread is released for other work.
    private static let maximumStreak = 16

    private struct State: Sendable {
        var waiting = Deque<@Sendable () -> Void>()
        var isRunning = false
    }

    private let state = NIOLockedValueBox(State())

    /// Submits work. The future completes on the event loop, in the order of the calls.
    func run<Value: Sendable>(
        on eventLoop: any EventLoop, _ work: @escaping @Sendable () throws -> Value
    ) -> EventLoopFuture<Value> {
        let promise = eventLoop.makePromise(of: Value.self)
        self.submit { promise.completeWith(Result(catching: work)) }
        return promise.futureResult
    }

    func submit(_ work: @escaping @Sendable () -> Void) {
        let begins = self.state.withLockedValue { state in
            state.waiting.append(work)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if begins { self.startJob() }
    }

    private func startJob() {
        // The singleton pool is never shut down, so the state of the item need not be checked.
        NIOThreadPool.singleton.submit { _ in
            for _ in 0..<Self.maximumStreak {
                let work = self.state.withLockedValue { state in
                    let work = state.waiting.popFirst()
                    state.isRunning = work != nil
                    return work
                }
                guard let work else { return }
                work()
            }
            self.startJob()
        }
    }
}
