import ApusSocketIOProtocol
import NIOCore

extension SocketIOServerSocket {
    /// Puts the socket into its namespace.
    ///
    /// - Returns: What a socket that comes back has missed; nil when some of that is gone since it was asked for.
    func opened() -> [SocketIOOutbound]? {
        self.eventLoop.assertInEventLoop()
        guard let recovery = self.namespace.recovery, let recoveryState = self.recoveryState else {
            self.enterNamespace()
            return []
        }
        guard let resumption = recoveryState.resumption.take() else {
            // Before it can get anything: what comes from now on is owed to it.
            recoveryState.joined = recovery.joining(self, recoveryState)
            recoveryState.start = recoveryState.joined
            self.enterNamespace()
            return []
        }
        // First in, then what it missed: an event in between is in what it missed, and is not to come twice.
        recoveryState.caughtUpTo = .max
        self.enterNamespace()
        self.namespace.join(self, Array(resumption.session.rooms))
        guard let (missed, end) = recovery.missed(resumption, by: self) else { return nil }
        recoveryState.caughtUpTo = end.number
        recoveryState.joined = end
        recoveryState.start = missed.isEmpty ? end : resumption.from
        return missed
    }

    /// The client claimed an earlier socket and was lost again before it was let in.
    func giveBack() {
        guard let resumption = self.recoveryState?.resumption.take() else { return }
        self.namespace.recovery?.giveBack(resumption)
    }
}
