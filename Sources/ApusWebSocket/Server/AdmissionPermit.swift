import ApusConnectivity
import Atomics
import NIOConcurrencyHelpers

/// The permit of one WebSocket under the server's connection limits.
///
/// A connection and its handler share it. The permit is returned once, when the last holder calls
/// ``release()``.
final class AdmissionPermit: Sendable {
    private let state: NIOLockedValueBox<WebSocketServer.State>
    /// The key by which the client is counted.
    private let address: String?
    private let holders = ManagedAtomic(1)

    init(state: NIOLockedValueBox<WebSocketServer.State>, address: String?) {
        self.state = state
        self.address = address
    }

    /// Adds a holder, which must also call ``release()``.
    func share() {
        self.holders.wrappingIncrement(ordering: .relaxed)
    }

    func release() {
        guard self.holders.wrappingDecrementThenLoad(ordering: .acquiringAndReleasing) == 0 else { return }
        self.state.withLockedValue { $0.webSockets.closed(from: self.address) }
    }
}
