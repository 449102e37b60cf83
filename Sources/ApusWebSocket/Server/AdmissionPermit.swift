import Atomics
import NIOConcurrencyHelpers

/// The place of one WebSocket among those a server admits. Given back once, when each who holds it has said so.
///
/// A connection and its handler share it: the later of the two gives it back.
final class AdmissionPermit: Sendable {
    private let state: NIOLockedValueBox<WebSocketServer.State>
    /// Under what name the client is counted.
    private let address: String?
    private let holders = ManagedAtomic(1)

    init(state: NIOLockedValueBox<WebSocketServer.State>, address: String?) {
        self.state = state
        self.address = address
    }

    /// One more holds it, and says ``giveBack()`` as well.
    func share() {
        self.holders.wrappingIncrement(ordering: .relaxed)
    }

    func giveBack() {
        guard self.holders.wrappingDecrementThenLoad(ordering: .acquiringAndReleasing) == 0 else { return }
        self.state.withLockedValue { $0.webSockets.closed(from: self.address) }
    }
}
