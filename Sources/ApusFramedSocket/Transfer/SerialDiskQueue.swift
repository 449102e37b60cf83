import DequeModule
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// Work for the disk that is done in order, by one thread of the pool at a time.
///
/// What is submitted while a thread is at it is done by that thread next: between two pieces of work nobody goes to sleep and nobody is woken, which
/// takes as long as reading a hundred KiB. What may wait is bounded by those who submit.
final class SerialDiskQueue: Sendable {
    /// So many pieces of work are done before others get the thread.
    private static let maximumStreak = 16

    private struct State: Sendable {
        var waiting = Deque<@Sendable () -> Void>()
        var isUnderWay = false
    }

    private let state = NIOLockedValueBox(State())

    /// The future is done on the loop, in the order of the calls.
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
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if begins { self.visit() }
    }

    private func visit() {
        // The pool of the process is never shut down.
        NIOThreadPool.singleton.submit { _ in
            for _ in 0..<Self.maximumStreak {
                let work = self.state.withLockedValue { state in
                    let work = state.waiting.popFirst()
                    state.isUnderWay = work != nil
                    return work
                }
                guard let work else { return }
                work()
            }
            self.visit()
        }
    }
}
