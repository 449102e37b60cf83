/// Brings lost sockets of one namespace back: the sessions of those that may return, and the packets they missed.
///
/// Both halves could live elsewhere: a stream in Redis has entries with ids for the history and keys with an expiry for the sessions (the
/// reference's streams adapter, engineio-socketio.md 9.4). What has to stay is the order of the steps: a session is taken before its socket is
/// made, and what it missed is read after its socket gets what is new.
///
/// Source: Socket.IO, "Connection state recovery". Better than the reference: a session is taken once; a client that never got an event
/// comes back too; an old offset never repeats what the session before it got.
package struct SocketIORecoveryStore<Packet: Sendable, Kept: Sendable>: Sendable {
    /// What is kept of a socket.
    package struct Session: Sendable {
        package var socketID: String
        package var rooms: SocketIORoomNames
        /// Where the history stood when the socket joined. What is before it was never owed to it.
        package var start: SocketIOOffset
        /// The application's values.
        package var kept: Kept

        package init(socketID: String, rooms: SocketIORoomNames, start: SocketIOOffset, kept: Kept) {
            self.socketID = socketID
            self.rooms = rooms
            self.start = start
            self.kept = kept
        }
    }

    package private(set) var history: SocketIOHistory<Packet>
    private var sessions: SocketIOSessionTable<Session>

    package init(epoch: String, lifetime: Duration, maximumPackets: Int, maximumBytes: Int, maximumSessions: Int) {
        self.history = SocketIOHistory(epoch: epoch, lifetime: lifetime, maximumCount: maximumPackets, maximumBytes: maximumBytes)
        self.sessions = SocketIOSessionTable(lifetime: lifetime, maximumCount: maximumSessions)
    }

    package var sessionCount: Int { self.sessions.count }

    /// Whether nothing is kept.
    package var isEmpty: Bool { self.sessions.count == 0 && self.history.count == 0 }

    package mutating func append(_ packet: Packet, for targets: SocketIOTargets, bytes: Int, at now: Duration) {
        self.history.append(packet, for: targets, bytes: bytes, at: now)
    }

    /// A socket was lost.
    package mutating func lost(_ session: Session, pid: String, at now: Duration) {
        self.sessions.keep(session, pid: pid, at: now)
    }

    /// Whether the socket with this private id may come back.
    package mutating func keeps(pid: String, at now: Duration) -> Bool { self.sessions.contains(pid, at: now) }

    package enum ClaimAction {
        /// The socket comes back, and gets what came after the offset.
        case resume(Session, from: SocketIOOffset)
        /// The session is not known, or some of what it missed is gone: the client has to start anew.
        case startAnew
    }

    /// A client comes with a private id, and the offset of the last event it got; nil when it got none.
    package mutating func claimed(pid: String, offset: String?, at now: Duration) -> ClaimAction {
        self.history.expire(at: now)
        guard let session = self.sessions.take(pid, at: now) else { return .startAnew }
        var from = session.start
        if let offset {
            // Not one of ours: a client that takes the last text of any event for an offset no longer knows where it stood.
            guard let place = SocketIOOffset(offset) else { return .startAnew }
            // One of another history, or from before the session: it got nothing in this one.
            if place.epoch == from.epoch, place.number > from.number { from = place }
        }
        guard self.history.reaches(backTo: from) else { return .startAnew }
        return .resume(session, from: from)
    }

    /// The packets a socket that is back has missed; nil when some have left the history.
    package func missed(after offset: SocketIOOffset, memberOf rooms: SocketIORoomNames) -> [Packet]? {
        self.history.missed(after: offset, memberOf: rooms)
    }

    /// Lets go of what is too old.
    package mutating func expire(at now: Duration) {
        self.history.expire(at: now)
        self.sessions.expire(at: now)
    }
}
