import NIOConcurrencyHelpers

/// Runs an action once when a request ends. The action may be set before or after the end.
final class CompletionHook: Sendable {
    private enum State {
        /// No action is set. Transitions to `set` or `ended`.
        case waiting
        /// The action to run at the end. Transitions to `ended`.
        case set(@Sendable () -> Void)
        /// An action that is set in this state runs immediately. Final.
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
