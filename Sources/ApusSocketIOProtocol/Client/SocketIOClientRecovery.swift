import ApusJSON

/// What a client remembers for the server to bring its session back: the private id, and how far it has read.
///
/// Source: Socket.IO, "Connection state recovery": `40{"sid","pid"}`; the client returns `{"pid","offset"}` in its next CONNECT's auth, and
/// the offset is the last argument of each event. A server that recovers nothing gives no `pid`: then nothing is kept.
package struct SocketIOClientRecovery: Sendable {
    private struct Session {
        var pid: String
        var socketID: String?
        var offset: String?
        /// How every offset of this server begins, where it can be known: then nothing else is taken for one.
        var mark: String?
        /// The last offsets, a ring. What is sent again is looked up here.
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

    /// - Parameter maximumSeen: Offsets remembered. A server that recovers from further back can have events delivered twice.
    package init(maximumSeen: Int = 256) {
        self.maximumSeen = max(1, maximumSeen)
    }

    /// What CONNECT shows the server: what the user shows, which is never overwritten, and what we remember.
    package func auth(_ auth: SocketIOValue?) -> SocketIOValue? {
        guard let session = self.session else { return auth }
        var members: JSONObject = ["pid": .string(session.pid)]
        members["offset"] = session.offset.map { .string($0) }
        switch auth {
        case nil: break
        case .object(let own): for member in own { members[member.key] = member.value }
        case .some: return auth  // no object: the encoder refuses it
        }
        return .object(members)
    }

    /// CONNECT was granted. Answers whether the session is the one from before.
    package mutating func granted(_ payload: SocketIOValue?) -> Bool {
        guard let pid = payload?["pid"]?.stringValue else {
            self.session = nil
            return false
        }
        let socketID = payload?["sid"]?.stringValue
        // The reference repeats the pid; a server whose pids are single-use repeats the sid.
        let isRecovered = self.session.map { $0.pid == pid || ($0.socketID != nil && $0.socketID == socketID) } ?? false
        var session = isRecovered ? self.session.take() : nil
        session?.pid = pid
        self.session = session ?? Session(pid: pid, socketID: socketID)
        // A quiet socket has no event to take an offset from: our server gives one here, `name.number`, and all of its begin with that name.
        if let offset = payload?["offset"]?.stringValue {
            self.session?.offset = offset
            self.session?.mark = offset.firstIndex(of: ".").map { String(offset[...$0]) }
        }
        return isRecovered
    }

    /// An event came. Answers what is to be delivered, nil when it was before.
    ///
    /// The offset stays among the arguments, as in the reference, unless it is known for one.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - isRepeated: Whether it was sent to make up for a lost connection; others cannot be doubles.
    package mutating func received(_ event: SocketIOClientNamespace.Event, isRepeated: Bool = false) -> SocketIOClientNamespace.Event? {
        // An event that wants an ack is never kept by the server: its last argument is the application's.
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

    /// The namespace was left: the server keeps nothing then.
    package mutating func forget() {
        self.session = nil
    }
}
