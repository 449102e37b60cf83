/// The state for the recovery of sockets of one namespace: the sessions of lost sockets, and the
/// packets that they may have missed.
///
/// The order of the steps is essential: take the session before creating its socket, and read the
/// missed packets after the socket has been added to the recipients of new packets.
///
/// Source: Socket.IO, "Connection state recovery". Differences from Node's Socket.IO: a session can
/// be taken only once, a client that received no event can recover too, and an old offset never
/// repeats packets from before the session.
package struct SocketIORecoveryStore<Packet: Sendable, Kept: Sendable>: Sendable {
    /// The state kept of a lost socket.
    package struct Session: Sendable {
        package var socketID: String
        package var rooms: SocketIORoomNames
        /// The end of the history when the socket joined. The socket does not receive earlier
        /// packets.
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

    /// Whether the store holds no session and no packet.
    package var isEmpty: Bool { self.sessions.count == 0 && self.history.count == 0 }

    package mutating func append(_ packet: Packet, for targets: SocketIOTargets, bytes: Int, at now: Duration) {
        self.history.append(packet, for: targets, bytes: bytes, at: now)
    }

    /// Stores the session of a lost socket.
    package mutating func lost(_ session: Session, pid: String, at now: Duration) {
        self.sessions.keep(session, pid: pid, at: now)
    }

    /// Returns whether a session is kept under this private id.
    package mutating func keeps(pid: String, at now: Duration) -> Bool { self.sessions.contains(pid, at: now) }

    package enum ClaimAction {
        /// The session is recovered. Send the packets after the offset.
        case resume(Session, from: SocketIOOffset)
        /// The session is unknown, or packets that it missed have expired. The client starts a new
        /// session.
        case startAnew
    }

    /// Takes the session of a reconnecting client.
    ///
    /// - Parameters:
    ///   - pid: The private id of the session.
    ///   - offset: The offset of the last event that the client received; `nil` if it received
    ///     none.
    ///   - now: The time since a fixed moment.
    package mutating func claimed(pid: String, offset: String?, at now: Duration) -> ClaimAction {
        self.history.expire(at: now)
        guard let session = self.sessions.take(pid, at: now) else { return .startAnew }
        var from = session.start
        if let offset {
            // Not an offset: the client returned the last string of an event without an offset, so
            // its position is unknown.
            guard let place = SocketIOOffset(offset) else { return .startAnew }
            // An offset of another history, or from before the session, means that the client has
            // received no event of this session.
            if place.epoch == from.epoch, place.number > from.number { from = place }
        }
        guard self.history.reaches(backTo: from) else { return .startAnew }
        return .resume(session, from: from)
    }

    /// Returns the packets that a recovered socket missed; `nil` if some of them have expired.
    package func missed(after offset: SocketIOOffset, memberOf rooms: SocketIORoomNames) -> [Packet]? {
        self.history.missed(after: offset, memberOf: rooms)
    }

    /// Removes expired packets and sessions.
    package mutating func expire(at now: Duration) {
        self.history.expire(at: now)
        self.sessions.expire(at: now)
    }
}
