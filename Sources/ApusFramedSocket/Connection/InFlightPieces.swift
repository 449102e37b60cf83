import NIOConcurrencyHelpers

/// Counts the pieces of one message that the transport has not written yet.
///
/// The sending task waits until at most a given number of pieces is unwritten, and is resumed once
/// instead of once per piece.
final class InFlightPieces: Sendable {
    private struct State: Sendable {
        var count = 0
        var failure: (any Error)?
        var waiter: (maximum: Int, continuation: CheckedContinuation<Void, any Error>)?

        /// The result for the waiter, if its condition is met.
        var answer: Result<Void, any Error>? {
            guard let waiter = self.waiter else { return nil }
            if let failure = self.failure { return .failure(failure) }
            return self.count <= waiter.maximum ? .success(()) : nil
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

    /// Waits until at most `maximum` pieces are left, or one has failed. Only one task may wait.
    func wait(atMost maximum: Int) async throws {
        try await withCheckedThrowingContinuation { continuation in
            self.update { $0.waiter = (maximum, continuation) }
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
