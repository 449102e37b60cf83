import ApusSocketIOProtocol

/// The state that allows a socket to resume after its connection was lost. A socket without
/// recovery has no such state.
///
/// `@unchecked Sendable`: the mutable properties are accessed on the socket's event loop only.
final class RecoveryState: @unchecked Sendable {
    /// The private id with which the client may resume.
    let pid: String
    /// The session to resume; `nil` after the socket has joined its namespace, or if it is new.
    var resumption: SocketIORecoveryLog.Resumption?
    /// The offset of the namespace's history when the socket joined. The client receives it.
    var joined: SocketIOOffset?
    /// The offset after which the client may have missed events. A resumption advances it only when
    /// the client missed no event. Otherwise the answer with the missed events may be lost too, and
    /// the client resumes again with the same offset.
    var start: SocketIOOffset?
    /// The number of the last event that was sent with the resumption. Deliveries up to it are
    /// skipped.
    var caughtUpTo: UInt64 = 0

    init(pid: String, resumption: SocketIORecoveryLog.Resumption?) {
        self.pid = pid
        self.resumption = resumption
    }
}
