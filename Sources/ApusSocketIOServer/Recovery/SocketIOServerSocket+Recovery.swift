import ApusSocketIOProtocol
import NIOCore

extension SocketIOServerSocket {
    /// Puts the socket into its namespace.
    ///
    /// - Returns: The packets that a resumed socket missed; `nil` when some have been removed since
    ///   the claim.
    func opened() -> [SocketIOOutbound]? {
        self.eventLoop.assertInEventLoop()
        guard let recovery = self.namespace.recovery, let recoveryState = self.recoveryState else {
            self.enterNamespace()
            return []
        }
        guard let resumption = recoveryState.resumption.take() else {
            // Before the socket can receive events: the client may miss any event from here on.
            recoveryState.joined = recovery.joining(self, recoveryState)
            recoveryState.start = recoveryState.joined
            self.enterNamespace()
            return []
        }
        // The socket enters first. The missed packets then include any event sent in between, which
        // must not be sent twice.
        recoveryState.caughtUpTo = .max
        self.enterNamespace()
        self.namespace.join(self, Array(resumption.session.rooms))
        guard let (missed, end) = recovery.missed(resumption, by: self) else { return nil }
        recoveryState.caughtUpTo = end.number
        recoveryState.joined = end
        recoveryState.start = missed.isEmpty ? end : resumption.from
        return missed
    }

    /// Stores the claimed session again: the client disconnected before admission.
    func giveBack() {
        guard let resumption = self.recoveryState?.resumption.take() else { return }
        self.namespace.recovery?.giveBack(resumption)
    }
}
