import ApusJSON

/// The client's state for connection state recovery: the private id and the last offset.
///
/// Source: Socket.IO, "Connection state recovery". The server sends `40{"sid","pid"}`, and the
/// offset as the last argument of each event. The client returns `{"pid","offset"}` in the auth of
/// its next CONNECT. A server without recovery sends no `pid`; the client then keeps no state.
package struct SocketIOClientRecovery: Sendable {
    private struct Session {
        var pid: String
        var socketID: String?
        var offset: String?
        /// The prefix of every offset of this server, if it is known. A string without the prefix
        /// is not treated as an offset.
        var mark: String?
        /// The last offsets, as a ring buffer, to detect repeated events.
        var seen: [String] = []
        var next = 0

        mutating func note(_ offset: String, maximum: Int) {
            self.offset = offset
            if self.seen.count < maximum {
                self.seen.append(offset)
            } else {
                self.seen[self.next] = offset
                self.next = (self.next + 1) % maximum
            }
        }
    }

    private var session: Session?
    private let maximumSeen: Int

    /// Creates an empty state.
    ///
    /// - Parameter maximumSeen: The number of recent offsets to store. Repeated events with older
    ///   offsets are delivered again.
    package init(maximumSeen: Int = 256) {
        self.maximumSeen = max(1, maximumSeen)
    }

    /// Returns the auth for CONNECT: the members for recovery and the application's members. The
    /// latter take precedence.
    package func auth(_ auth: SocketIOValue?) -> SocketIOValue? {
        guard let session = self.session else { return auth }
        var members: JSONObject = ["pid": .string(session.pid)]
        members["offset"] = session.offset.map { .string($0) }
        switch auth {
        case nil: break
        case .object(let own): for member in own { members[member.key] = member.value }
        case .some: return auth  // not an object: the encoder rejects it
        }
        return .object(members)
    }

    /// Records the server's CONNECT. Returns whether the session was recovered.
    package mutating func granted(_ payload: SocketIOValue?) -> Bool {
        guard let pid = payload?["pid"]?.stringValue else {
            self.session = nil
            return false
        }
        let socketID = payload?["sid"]?.stringValue
        // Node's Socket.IO repeats the pid. A server with single-use pids repeats the sid.
        let isRecovered = self.session.map { $0.pid == pid || ($0.socketID != nil && $0.socketID == socketID) } ?? false
        var session = isRecovered ? self.session.take() : nil
        session?.pid = pid
        self.session = session ?? Session(pid: pid, socketID: socketID)
        // Before the first event, there is no offset. An Apus server therefore sends an offset
        // `name.number` with CONNECT. All of its offsets start with that name.
        if let offset = payload?["offset"]?.stringValue {
            self.session?.offset = offset
            self.session?.mark = offset.firstIndex(of: ".").map { String(offset[...$0]) }
        }
        return isRecovered
    }

    /// Records the offset of an event. Returns the event to deliver, or `nil` if it was delivered
    /// before.
    ///
    /// The offset remains the last argument, as in Node's Socket.IO, unless its prefix is known.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isRepeated: Whether the server sent the event for a recovery. Other events cannot be
    ///     duplicates.
    package mutating func receivedEvent(_ event: SocketIOClientNamespace.Event, isRepeated: Bool = false) -> SocketIOClientNamespace.Event?
    {
        // A server does not store an event that requests an ack, so the last argument is not an
        // offset.
        guard self.session != nil, event.ackID == nil else { return event }
        var arguments = event.arguments.arguments
        guard let offset = arguments.popLast()?.stringValue else { return event }
        let mark = self.session?.mark
        if let mark, !offset.hasPrefix(mark) { return event }
        if isRepeated, self.session?.seen.contains(offset) == true { return nil }
        self.session?.note(offset, maximum: self.maximumSeen)
        guard mark != nil else { return event }
        var event = event
        event.arguments = SocketIOPayload(arguments)
        return event
    }

    /// Removes the session, because the namespace was left.
    package mutating func forget() {
        self.session = nil
    }
}
