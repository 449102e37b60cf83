import ApusChatCore
import ApusChatStorage
import NIOConcurrencyHelpers

/// Bounds the number of child processes. Users take turns, so that the files of one user delay
/// those of others by one file at most.
final class MediaQueue: Sendable {
    private struct State: Sendable {
        var queue: FairQueue<CheckedContinuation<Bool, Never>>
        var underWay = 0
        var isClosed = false
    }

    private let maximum: Int
    private let state: NIOLockedValueBox<State>

    /// - Parameters:
    ///   - maximum: The maximum number of jobs that run at the same time.
    ///   - waiting: The maximum number of waiting jobs, a quarter of which can belong to one user.
    init(maximum: Int = 2, waiting: Int = 256) {
        self.maximum = maximum
        self.state = .init(State(queue: FairQueue(bounds: .init(underWay: maximum, waitingOfUser: waiting / 4, waiting: waiting))))
    }

    /// Whether jobs wait for their turn.
    var isWaiting: Bool { self.state.withLockedValue { $0.queue.count > 0 } }

    /// Runs a job when it is its turn.
    ///
    /// - Throws: ``ToolFailure/unavailable`` if the queue is full or closed; `CancellationError` if
    ///   the task was cancelled while the job waited.
    func run<Value: Sendable>(for user: UserKey, _ body: () async throws -> Value) async throws -> Value {
        let isPermitted = await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
            let isAdmitted = self.state.withLockedValue { state in
                !state.isClosed && state.queue.enqueue(continuation, for: user) == .admitted
            }
            guard isAdmitted else { return continuation.resume(returning: false) }
            self.startNext()
        }
        guard isPermitted else { throw ToolFailure.unavailable }
        defer {
            self.state.withLockedValue { state in
                state.underWay -= 1
                state.queue.finished(user)
            }
            self.startNext()
        }
        try Task.checkCancellation()
        return try await body()
    }

    /// Refuses the waiting jobs and later ones. Running jobs are not cancelled.
    func close() {
        let waiting = self.state.withLockedValue { state in
            state.isClosed = true
            return state.queue.removeAll()
        }
        for continuation in waiting { continuation.resume(returning: false) }
    }

    private func startNext() {
        let next = self.state.withLockedValue { state -> CheckedContinuation<Bool, Never>? in
            guard state.underWay < self.maximum, let (_, continuation) = state.queue.next() else { return nil }
            state.underWay += 1
            return continuation
        }
        next?.resume(returning: true)
    }
}
