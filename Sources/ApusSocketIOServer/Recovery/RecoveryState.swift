import ApusSocketIOProtocol

/// The state that lets a socket resume after its connection was lost. Sockets without recovery have
/// none.
///
/// `@unchecked Sendable`: the mutable properties are accessed on the socket's event loop only.
final class RecoveryState: @unchecked Sendable {
    /// The private id with which the client may resume.
    let pid: String
    /// The session to resume, until the socket is in its namespace.
    var resumption: SocketIORecoveryLog.Resumption?
    /// The offset of the namespace's history when the socket joined. The client receives it.
    var joined: SocketIOOffset?
    /// The offset after which the client may have missed events. A resumption advances it only when
    /// the client missed no event: the answer with the missed events may be lost as well, and the
    /// client then resumes with the same offset.
    var start: SocketIOOffset?
    /// The number up to which events are skipped: they were sent with the resumption.
    var caughtUpTo: UInt64 = 0

    init(pid: String, resumption: SocketIORecoveryLog.Resumption?) {
        self.pid = pid
        self.resumption = resumption
    }
}
