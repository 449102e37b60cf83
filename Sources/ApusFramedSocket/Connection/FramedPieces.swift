import NIOConcurrencyHelpers

/// Pieces of one message that the transport has not taken: while they are on their way the next is made.
///
/// Counts them for the one task that sends the message, which is woken once and not for each.
final class FramedPieces: Sendable {
    private struct State: Sendable {
        var count = 0
        var failure: (any Error)?
        var waiter: (most: Int, continuation: CheckedContinuation<Void, any Error>)?

        /// What the waiter is told, if anything.
        var answer: Result<Void, any Error>? {
            guard let waiter = self.waiter else { return nil }
            if let failure = self.failure { return .failure(failure) }
            return self.count <= waiter.most ? .success(()) : nil
        }
    }

    private let state = NIOLockedValueBox(State())

    var count: Int { self.state.withLockedValue { $0.count } }

    func began() {
        self.state.withLockedValue { $0.count += 1 }
    }

    func ended(_ result: Result<Void, any Error>) {
        self.update { state in
            state.count -= 1
            if case .failure(let error) = result, state.failure == nil { state.failure = error }
        }
    }

    /// Waits until so many are left, or one has failed. By one task at a time.
    func wait(atMost most: Int) async throws {
        try await withCheckedThrowingContinuation { continuation in
            self.update { $0.waiter = (most, continuation) }
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let (answer, waiter) = self.state.withLockedValue { state in
            change(&state)
            let answer = state.answer
            return (answer, answer == nil ? nil : state.waiter.take())
        }
        if let answer { waiter?.continuation.resume(with: answer) }
    }
}
