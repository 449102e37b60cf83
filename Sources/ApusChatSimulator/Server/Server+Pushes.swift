import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The pushes of a committed batch.
extension Server {
    func push(_ batch: DecidedBatch) {
        for push in batch.pushes {
            guard case .arrived(let key, let user, _) = push else { continue }
            for socket in self.router.sockets(of: user) { self.headChanged(key, at: socket) }
        }
        self.perform(self.digest.committed(batch, at: self.clock.monotonic))
        self.deliver(self.router.route(batch), of: batch)
        self.fetchPages(of: batch)
    }

    func digestTimerFired(life: Int) {
        guard life == self.life else { return }
        let (told, next) = self.digest.timerFired(at: self.clock.monotonic)
        self.perform(next)
        for case .nudge(let key, let sockets) in self.router.digest(told) {
            guard let user = sockets.first.flatMap({ self.connections[$0]?.user }),
                let counters = self.storage.head(of: user, in: key)?.conversation.counters
            else { continue }
            let nudge = HeadNudge(
                conversation: ConversationID(number: key.rawValue), seq: counters.lastSeq, n: counters.lastN, at: counters.lastAt)
            for socket in sockets {
                guard let connection = self.connections[socket] else { continue }
                if self.router.isStalled(socket) {
                    self.perform(connection.frames.advanced(nudge, in: key, at: self.clock.monotonic), on: connection)
                } else {
                    self.send(.heads(HeadPush(nudges: [nudge])), on: connection)
                }
            }
        }
    }

    private func perform(_ action: HeadDigest.Action) {
        if case .schedule(let delay) = action {
            self.agenda.add(.digest(life: self.life), at: self.clock.monotonic + delay.milliseconds)
        }
    }

    private func deliver(_ deliveries: [PushRouter.Delivery], of batch: DecidedBatch) {
        for delivery in deliveries {
            switch delivery {
            case .events(let key, let first, let last, let sockets): self.push(key, first...last, of: batch, to: sockets)
            case .personal(let key, let first, let last, let user, let sockets): self.push(key, first...last, as: user, to: sockets)
            case .nudge(let key, let sockets): self.nudge(key, sockets, of: batch)
            case .head(let key, _, let sockets): for socket in sockets { self.headChanged(key, at: socket) }
            case .read(let key, let user, let n, let sockets):
                let read = CoalescedHeads.Read(conversation: key, user: user, n: n)
                for socket in sockets {
                    guard let connection = self.connections[socket] else { continue }
                    self.perform(connection.frames.readMoved(read, at: self.clock.monotonic), on: connection)
                }
            case .user: break
            }
        }
    }

    /// Encodes new events once, and sends them to connections.
    private func push(_ key: ConversationKey, _ range: ClosedRange<Int64>, of batch: DecidedBatch, to sockets: [SocketKey]) {
        var push = EventPush(events: [])
        for row in batch.changes.events where row.conversation == key && range.contains(row.seq) {
            push.events.append(self.encoder.event(row))
        }
        var last = UserKey(0)
        for socket in sockets {
            guard let connection = self.connections[socket] else { continue }
            if connection.user != last { self.check(self.checked(push.events, key, for: connection.user, of: batch), to: connection.user) }
            last = connection.user
            self.send(push, on: connection)
        }
    }

    /// Returns the events to check. A user who left and requested to join in the same batch may
    /// not see the log, but still receives the events up to the departure.
    private func checked(_ events: [ChatEvent], _ key: ConversationKey, for user: UserKey, of batch: DecidedBatch) -> [ChatEvent] {
        guard self.oracle.books[key]?.people[user]?.state == .requested else { return events }
        for case .departed(key, user, let last) in batch.pushes { return events.filter { $0.seq > last } }
        return events
    }

    private func push(_ key: ConversationKey, _ range: ClosedRange<Int64>, as user: UserKey, to sockets: [SocketKey]) {
        let views = self.storage.events(in: key, .from(range.lowerBound), as: user, limit: range.count)
        // The events of one part of a batch contain the changes of the whole batch.
        let last = self.storage.head(of: user, in: key)?.conversation.counters.lastSeq
        let push = EventPush(events: views.map { self.encoder.event($0, in: key) }, asOf: last)
        guard !push.events.isEmpty else { return }
        self.check(push.events, to: user)
        for socket in sockets {
            if let connection = self.connections[socket] { self.send(push, on: connection) }
        }
    }

    /// Sends the newest position of a log. Sends the head instead to users whose number of unread
    /// mentions changed.
    private func nudge(_ key: ConversationKey, _ sockets: [SocketKey], of batch: DecidedBatch) {
        guard let counters = batch.changes.conversations.first(where: { $0.key == key })?.counters else { return }
        let rows = batch.changes.events.filter { $0.conversation == key }
        let last = rows.last { $0.seq == counters.previewSeq }.map { ChatKinds.preview(of: self.encoder.event($0)) }
        let nudge = HeadNudge(
            conversation: ConversationID(number: key.rawValue), seq: counters.lastSeq, n: counters.lastN, at: counters.lastAt, last: last)
        let mentioned = batch.mentioned[key] ?? []
        for socket in sockets {
            guard let connection = self.connections[socket] else { continue }
            if mentioned.contains(UserKey(0)) || mentioned.contains(connection.user) {
                self.headChanged(key, at: socket)
            } else {
                self.perform(connection.frames.advanced(nudge, in: key, at: self.clock.monotonic), on: connection)
            }
        }
    }

    /// Sends a push as if several servers pushed to one connection: the push can be lost, arrive
    /// twice, or arrive before an earlier push.
    private func send(_ push: EventPush, on connection: Connection) {
        self.counts.deliveries += 1
        self.checkReader(of: connection)
        guard self.isLossy else { return self.send(.events(push), on: connection) }
        switch self.generator.below(100) {
        case 0..<6: break
        case 6..<9:
            self.send(.events(push), on: connection)
            self.send(.events(push), on: connection)
        case 9..<14 where !connection.down.isEmpty:
            connection.sendEarly(.events(push))
            self.count(.events(push), on: connection)
        default: self.send(.events(push), on: connection)
        }
    }

    private func send(_ message: Message, on connection: Connection) {
        connection.send(message)
        self.count(message, on: connection)
    }

    private func count(_ message: Message, on connection: Connection) {
        switch connection.window.sent(message.pushedBytes) {
        case .doNothing: break
        case .ask: connection.ask()
        case .stall: self.stall(connection)
        }
    }

    // MARK: Frames of heads

    func headChanged(_ key: ConversationKey, at socket: SocketKey) {
        guard let connection = self.connections[socket] else { return }
        self.perform(connection.frames.headChanged(key, at: self.clock.monotonic), on: connection)
    }

    func frameTimerFired(_ socket: SocketKey) {
        guard let connection = self.connections[socket] else { return }
        self.perform(connection.frames.timerFired(at: self.clock.monotonic), on: connection)
    }

    func perform(_ action: CoalescedHeads.Action, on connection: Connection) {
        switch action {
        case .doNothing: break
        case .schedule(let delay): self.agenda.add(.frame(connection.key), at: self.clock.monotonic + delay.milliseconds)
        case .send(let frame): self.send(frame, on: connection)
        }
    }

    private func send(_ frame: CoalescedHeads.Frame, on connection: Connection) {
        self.checkReader(of: connection)
        var push = HeadPush(nudges: frame.nudges)
        for nudge in frame.nudges {
            if let fault = self.oracle.fault(of: nudge, to: connection.user) {
                self.faults.append("served to \(connection.user.rawValue): \(fault)")
            }
            connection.stall.owed.remove(ConversationKey(nudge.conversation.number))
        }
        for key in frame.heads {
            connection.stall.owed.remove(key)
            guard let row = self.storage.head(of: connection.user, in: key) else { continue }
            if row.member.isGone {
                push.gone.append(ConversationID(number: key.rawValue))
            } else {
                push.heads.append(self.head(row, to: connection.user))
            }
        }
        if !push.heads.isEmpty || !push.nudges.isEmpty || !push.gone.isEmpty { self.send(.heads(push), on: connection) }
        let marks = frame.reads.compactMap { read in
            self.oracle.name(of: read.user).map {
                ReadMark(conversation: ConversationID(number: read.conversation.rawValue), user: $0, read: read.n)
            }
        }
        if !marks.isEmpty { self.send(.marks(MarkPush(marks: marks)), on: connection) }
    }
}
