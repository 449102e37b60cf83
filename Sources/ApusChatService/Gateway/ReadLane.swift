import DequeModule
import NIOConcurrencyHelpers

/// Runs the read requests of one connection in order. Their answers can be large. The next request
/// runs when the client has read the previous answer.
///
/// The server therefore holds at most one answer for each connection, even for a client that does
/// not read. The limit of pending requests bounds the number of waiting requests.
final class ReadLane: Sendable {
    typealias Job = @Sendable () -> Void

    private struct State: Sendable {
        var isBusy = false
        var isClosed = false
        var waiting: Deque<Job> = []
    }

    private let state = NIOLockedValueBox(State())
    /// Calls a closure when the outgoing queue of the connection is short.
    private let whenDrained: @Sendable (@escaping Job) -> Void

    init(whenDrained: @escaping @Sendable (@escaping Job) -> Void) { self.whenDrained = whenDrained }

    /// Runs a job after the preceding jobs, or immediately if there are none. Each job must call
    /// `answered` once, after its answer is sent.
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

    /// Drops the waiting jobs and ignores later ones. Called when the connection has ended.
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
