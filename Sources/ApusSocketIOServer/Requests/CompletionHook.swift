import NIOConcurrencyHelpers

/// Runs an action once when a request ends, regardless of whether the action is set before or after
/// that.
final class CompletionHook: Sendable {
    private enum State {
        /// No action is set. Leaves to `set` or `ended`.
        case waiting
        /// Leaves to `ended`.
        case set(@Sendable () -> Void)
        /// Final: an action set in this state runs immediately.
        case ended
    }

    private let state = NIOLockedValueBox(State.waiting)

    func set(_ body: @escaping @Sendable () -> Void) {
        let isLate = self.state.withLockedValue { state in
            if case .ended = state { return true }
            state = .set(body)
            return false
        }
        if isLate { body() }
    }

    /// Releases the action without running it. Later actions run immediately.
    func cancel() { self.state.withLockedValue { $0 = .ended } }

    func end() {
        let old = self.state.withLockedValue { state in
            defer { state = .ended }
            return state
        }
        if case .set(let body) = old { body() }
    }
}
