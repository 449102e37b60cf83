import ApusFramedProtocol
import DequeModule
import NIOConcurrencyHelpers

/// Permits one task to send at a time, in the order of the calls.
final class SendSerializer: Sendable {
    /// The permit of one task, from its request to its release.
    struct Permit: Sendable {
        fileprivate enum Phase: Sendable {
            case new
            case waiting(CheckedContinuation<Void, any Error>)
            /// The permit was cancelled before its task waited.
            case refused(any Error)
            case taken
            case over
        }

        fileprivate let id: Int
        /// Accessed under the lock of the serializer, which is always the outer lock.
        fileprivate let storage = NIOLockedValueBox(Phase.new)

        fileprivate var phase: Phase {
            get { self.storage.withLockedValue { $0 } }
            nonmutating set { self.storage.withLockedValue { $0 = newValue } }
        }
    }

    private struct State: Sendable {
        var lastID = 0
        var isTaken = false
        /// The error for all further requests, after `end`.
        var ending: FramedError?
        /// The waiting permits. Cancelled ones are removed.
        var queue = Deque<Permit>()
        /// Called when the last permit is released.
        var onIdle: (@Sendable () -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    /// Creates the permit of a task, which ``take(_:)`` requests.
    func makePermit() -> Permit {
        self.state.withLockedValue { state in
            state.lastID &+= 1
            return Permit(id: state.lastID)
        }
    }

    /// Waits for the permit. Call ``giveBack(_:)`` afterwards unless this throws.
    func take(_ permit: Permit) async throws {
        // Not `withLoopOperation`: a free permit is taken on the caller's thread, without a hop.
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = self.state.withLockedValue { state in
                    // An earlier cancellation found no continuation to resume.
                    if case .refused(let error) = permit.phase { return .failure(error) }
                    if let ending = state.ending { return .failure(ending) }
                    guard state.isTaken else {
                        state.isTaken = true
                        permit.phase = .taken
                        return .success(())
                    }
                    permit.phase = .waiting(continuation)
                    state.queue.append(permit)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            _ = self.giveUp(permit, because: CancellationError())
        }
    }

    /// Cancels a waiting permit. Returns `true`, without any effect, when the permit is already
    /// granted.
    func giveUp(_ permit: Permit, because error: any Error) -> Bool {
        let (continuation, isTaken): (CheckedContinuation<Void, any Error>?, Bool) = self.state.withLockedValue { state in
            switch permit.phase {
            case .new:
                permit.phase = .refused(error)
                return (nil, false)
            case .waiting(let continuation):
                permit.phase = .over
                state.queue.removeAll { $0.id == permit.id }
                return (continuation, false)
            case .taken: return (nil, true)
            case .refused, .over: return (nil, false)
            }
        }
        continuation?.resume(throwing: error)
        return isTaken
    }

    func giveBack(_ permit: Permit) {
        let (next, onIdle) = self.state.withLockedValue { state -> (CheckedContinuation<Void, any Error>?, (@Sendable () -> Void)?) in
            permit.phase = .over
            while let next = state.queue.popFirst() {
                guard case .waiting(let continuation) = next.phase else { continue }
                next.phase = .taken
                return (continuation, nil)
            }
            state.isTaken = false
            return (nil, state.onIdle.take())
        }
        next?.resume()
        onIdle?()
    }

    /// Refuses all waiting and future permits. A granted permit remains valid.
    ///
    /// - Parameter onIdle: Called once when no permit is granted, possibly immediately. While a
    ///   permit is granted, only the first call's closure is kept.
    func end(_ error: FramedError, onIdle: (@Sendable () -> Void)? = nil) {
        let (waiting, isIdle) = self.state.withLockedValue { state in
            if state.ending == nil { state.ending = error }
            var waiting: [CheckedContinuation<Void, any Error>] = []
            while let next = state.queue.popFirst() {
                if case .waiting(let continuation) = next.phase { waiting.append(continuation) }
                next.phase = .over
            }
            if state.isTaken, state.onIdle == nil { state.onIdle = onIdle }
            return (waiting, !state.isTaken)
        }
        for continuation in waiting { continuation.resume(throwing: error) }
        if isIdle { onIdle?() }
    }
}
