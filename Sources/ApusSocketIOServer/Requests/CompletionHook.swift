import NIOConcurrencyHelpers

/// Runs an action once when a request ends, with the reason. The action may be set before or after
/// the end.
final class CompletionHook: Sendable {
    typealias Action = @Sendable (SocketIOAckEnd) -> Void

    private enum State {
        /// No action is set. Transitions to `set`, `ended` or `cancelled`.
        case waiting
        /// The action to run at the end. Transitions to `ended` or `cancelled`.
        case set(Action)
        /// An action that is set in this state runs immediately. Final.
        case ended(SocketIOAckEnd)
        /// An action that is set in this state is dropped. Final.
        case cancelled
    }

    private let state = NIOLockedValueBox(State.waiting)

    func set(_ action: @escaping Action) {
        let end = self.state.withLockedValue { state -> SocketIOAckEnd? in
            switch state {
            case .ended(let end): return end
            case .cancelled: return nil
            case .waiting, .set:
                state = .set(action)
                return nil
            }
        }
        if let end { action(end) }
    }

    /// Releases the action without running it. A later action is dropped.
    func cancel() { self.state.withLockedValue { $0 = .cancelled } }

    func end(_ end: SocketIOAckEnd) {
        let action = self.state.withLockedValue { state -> Action? in
            defer { if case .cancelled = state {} else { state = .ended(end) } }
            if case .set(let action) = state { return action } else { return nil }
        }
        action?(end)
    }
}
