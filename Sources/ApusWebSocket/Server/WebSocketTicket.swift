import NIOConcurrencyHelpers

/// The place of one WebSocket among those a server admits. Given back once, however often that is said.
///
/// A connection and its handler share it: the later of the two gives it back.
final class WebSocketTicket: Sendable {
    private struct State: Sendable {
        var holders = 1
        var release: (@Sendable () -> Void)?
    }

    private let state: NIOLockedValueBox<State>

    init(release: @escaping @Sendable () -> Void) {
        self.state = NIOLockedValueBox(State(release: release))
    }

    /// One more holds it, and says ``giveBack()`` as well.
    func share() {
        self.state.withLockedValue { $0.holders += 1 }
    }

    func giveBack() {
        let release = self.state.withLockedValue { state -> (@Sendable () -> Void)? in
            state.holders -= 1
            return state.holders == 0 ? state.release.take() : nil
        }
        release?()
    }
}
