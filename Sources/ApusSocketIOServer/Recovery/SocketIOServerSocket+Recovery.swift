import ApusSocketIOProtocol
import NIOCore

extension SocketIOServerSocket {
    /// Puts the socket into its namespace.
    ///
    /// - Returns: What a socket that comes back has missed; nil when some of that is gone since it was asked for.
    func opened() -> [SocketIOOutbound]? {
        self.eventLoop.assertInEventLoop()
        guard let recovery = self.namespace.recovery, let comeback = self.comeback else {
            self.enterNamespace()
            return []
        }
        guard let resumption = comeback.resumption.take() else {
            // Before it can get anything: what comes from now on is owed to it.
            comeback.joined = recovery.joining(self, comeback)
            comeback.start = comeback.joined
            self.enterNamespace()
            return []
        }
        // First in, then what it missed: an event in between is in what it missed, and is not to come twice.
        comeback.caughtUpTo = .max
        self.enterNamespace()
        self.namespace.join(self, Array(resumption.session.rooms))
        guard let (missed, end) = recovery.missed(resumption, by: self) else { return nil }
        comeback.caughtUpTo = end.number
        comeback.joined = end
        comeback.start = missed.isEmpty ? end : resumption.from
        return missed
    }

    /// The client claimed an earlier socket and was lost again before it was let in.
    func giveBack() {
        guard let resumption = self.comeback?.resumption.take() else { return }
        self.namespace.recovery?.giveBack(resumption)
    }
}
