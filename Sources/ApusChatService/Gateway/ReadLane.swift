import DequeModule
import NIOConcurrencyHelpers

/// The reading requests of one connection, whose answers may be large. The next one runs when the
/// client has read the answer of the one before.
///
/// The server so holds one such answer for each connection, also for a client that does not read.
/// The limit of pending requests bounds those that wait.
final class ReadLane: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        var isBusy = false
        var isClosed = false
        var waiting: Deque<Job> = []
    }

    private let state = NIOLockedValueBox(State())
    /// Calls its argument when the outgoing queue of the connection is short.
    private let whenDrained: @Sendable (@escaping Job) -> Void

    init(whenDrained: @escaping @Sendable (@escaping Job) -> Void) { self.whenDrained = whenDrained }

    /// Runs a job at once, or after the jobs before it. Each job calls `answered` once, after its
    /// answer is sent.
    func run(_ job: @escaping Job) {
        let isFree = self.state.withLockedValue { state in
            guard state.isBusy || state.isClosed else {
                state.isBusy = true
                return true
            }
            if !state.isClosed { state.waiting.append(job) }
            return false
        }
        if isFree { job() }
    }

    func answered() { self.whenDrained { self.proceed() } }

    /// Drops the jobs that wait. The connection has ended.
    func close() {
        self.state.withLockedValue { state in
            state.isClosed = true
            state.waiting = []
        }
    }

    private func proceed() {
        let next = self.state.withLockedValue { state in
            let next = state.waiting.popFirst()
            state.isBusy = next != nil
            return next
        }
        next?()
    }
}
