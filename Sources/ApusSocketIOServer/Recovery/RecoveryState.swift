import ApusSocketIOProtocol

/// What a socket needs to come back after its connection was lost; only sockets that can have one.
///
/// `@unchecked Sendable`: the mutable properties are touched on the socket's event loop only.
final class RecoveryState: @unchecked Sendable {
    /// The id under which the client may come back.
    let pid: String
    /// What the socket brings back, until it is in its namespace.
    var resumption: SocketIORecoveryLog.Resumption?
    /// Where the history of the namespace stood when the socket joined; the client is told.
    var joined: SocketIOOffset?
    /// The place behind which events are owed to the client. A return moves it only when the client missed nothing: the answer with the missed
    /// events may be lost as well, and then the client returns with the same offset as before.
    var start: SocketIOOffset?
    /// Numbered events up to here are none of its own, or were sent when it came back.
    var caughtUpTo: UInt64 = 0

    init(pid: String, resumption: SocketIORecoveryLog.Resumption?) {
        self.pid = pid
        self.resumption = resumption
    }
}
