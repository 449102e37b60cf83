import ApusFramedProtocol
import DequeModule
import NIOConcurrencyHelpers

/// Lets one task send at a time, in the order in which they came.
final class SendSerializer: Sendable {
    /// One task's turn, from before it waits until it has given it back.
    final class Ticket: @unchecked Sendable {
        // Unchecked because: touched under the lock of the turns only.
        fileprivate enum Phase {
            case new
            case waiting(CheckedContinuation<Void, any Error>)
            /// It was given up before it waited.
            case refused(any Error)
            case taken
            case over
        }

        fileprivate var phase = Phase.new
    }

    private struct State: Sendable {
        var isTaken = false
        /// Nobody gets a turn any more, because of this.
        var ending: FramedError?
        /// Those that were given up meanwhile are still here.
        var queue = Deque<Ticket>()
        /// Told when the last turn was given back.
        var onIdle: (@Sendable () -> Void)?
    }

    private let state = NIOLockedValueBox(State())

    /// Waits for the turn. ``giveBack(_:)`` must follow when this does not throw.
    func take(_ ticket: Ticket) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = self.state.withLockedValue { state in
                    // A cancellation before this point found nobody to resume.
                    if case .refused(let error) = ticket.phase { return .failure(error) }
                    if let ending = state.ending { return .failure(ending) }
                    guard state.isTaken else {
                        state.isTaken = true
                        ticket.phase = .taken
                        return .success(())
                    }
                    ticket.phase = .waiting(continuation)
                    state.queue.append(ticket)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            _ = self.giveUp(ticket, because: CancellationError())
        }
    }

    /// Lets a task wait no longer. `true`: it has the turn, and nothing was done.
    func giveUp(_ ticket: Ticket, because error: any Error) -> Bool {
        let (continuation, isTaken): (CheckedContinuation<Void, any Error>?, Bool) = self.state.withLockedValue { state in
            switch ticket.phase {
            case .new:
                ticket.phase = .refused(error)
                return (nil, false)
            case .waiting(let continuation):
                ticket.phase = .over
                state.queue.removeAll { $0 === ticket }
                return (continuation, false)
            case .taken: return (nil, true)
            case .refused, .over: return (nil, false)
            }
        }
        continuation?.resume(throwing: error)
        return isTaken
    }

    func giveBack(_ ticket: Ticket) {
        let (next, onIdle) = self.state.withLockedValue { state -> (CheckedContinuation<Void, any Error>?, (@Sendable () -> Void)?) in
            ticket.phase = .over
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

    /// Refuses those who wait and those who come; the turn that is taken goes on to its end.
    ///
    /// - Parameter onIdle: Called once, when nobody has a turn any more; at once when that is so. While a turn is taken only the first call's
    ///   is kept.
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
