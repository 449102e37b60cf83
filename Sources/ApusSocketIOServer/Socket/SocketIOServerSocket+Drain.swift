import ApusConnectivity
import NIOCore

extension SocketIOServerSocket {
    /// Calls `body` once on the event loop when the outgoing queue is short, counting everything
    /// sent before this call. Drops `body` when the client disconnects first.
    package func whenDrained(_ body: @escaping @Sendable () -> Void) {
        // Packets sent from other threads reach the event loop in the first turn, and the transport
        // at the end of that turn.
        self.eventLoop.execute { self.eventLoop.execute { self.callWhenDrained(body) } }
    }

    private func callWhenDrained(_ body: @escaping @Sendable () -> Void) {
        guard case .open = self.state, let connection = self.connection else { return }
        if connection.isDrained() { body() } else { self.makeExtras().drainWaiters.append(body) }
    }

    func drained() {
        guard let extras, !extras.drainWaiters.isEmpty else { return }
        for body in exchange(&extras.drainWaiters, with: []) { body() }
    }
}
