import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// What a committed batch tells the connections.
extension Server {
    func push(_ batch: DecidedBatch) {
        for push in batch.pushes {
            guard case .arrived(let key, let user, _) = push else { continue }
            for socket in self.router.sockets(of: user) { self.headChanged(key, at: socket, isWhole: true) }
        }
        self.perform(self.digest.committed(batch, at: self.clock.monotonic))
        self.deliver(self.router.route(batch), of: batch)
    }

    func digestTimerFired(life: Int) {
        guard life == self.life else { return }
        let (told, next) = self.digest.timerFired(at: self.clock.monotonic)
        self.perform(next)
        self.deliver(self.router.digest(told), of: nil)
    }

    private func perform(_ action: HeadDigest.Action) {
        if case .schedule(let delay) = action {
            self.agenda.add(.digest(life: self.life), at: self.clock.monotonic + delay.milliseconds)
        }
    }

    private func deliver(_ deliveries: [PushRouter.Delivery], of batch: DecidedBatch?) {
        for delivery in deliveries {
            switch delivery {
            case .events(let key, let first, let last, let sockets):
                if let batch { self.push(key, first...last, of: batch, to: sockets) }
            case .personal(let key, let first, let last, let user, let sockets): self.push(key, first...last, as: user, to: sockets)
            case .nudge(let key, let sockets): for socket in sockets { self.headChanged(key, at: socket, isWhole: false) }
            case .head(let key, _, let sockets): for socket in sockets { self.headChanged(key, at: socket, isWhole: true) }
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

    /// Sends new events to all of these connections, encoded once.
    private func push(_ key: ConversationKey, _ range: ClosedRange<Int64>, of batch: DecidedBatch, to sockets: [SocketKey]) {
        let rows = batch.changes.events.filter { $0.conversation == key && range.contains($0.seq) }
        let push = EventPush(events: rows.map { self.encoder.event($0) })
        var last = UserKey(0)
        for socket in sockets {
            guard let connection = self.connections[socket] else { continue }
            if connection.user != last { self.check(push.events, to: connection.user) }
            last = connection.user
            self.send(push, on: connection)
        }
    }

    private func push(_ key: ConversationKey, _ range: ClosedRange<Int64>, as user: UserKey, to sockets: [SocketKey]) {
        let views = self.storage.events(in: key, .from(range.lowerBound), as: user, limit: range.count)
        // A part of the batch contains the changes up to the end of the batch.
        let last = self.storage.head(of: user, in: key)?.conversation.counters.lastSeq
        let push = EventPush(events: views.map { self.encoder.event($0, in: key) }, asOf: last)
        guard !push.events.isEmpty else { return }
        self.check(push.events, to: user)
        for socket in sockets {
            if let connection = self.connections[socket] { self.send(push, on: connection) }
        }
    }

    /// Several nodes push to one connection: a push may be lost, arrive twice, or before an earlier
    /// one.
    private func send(_ push: EventPush, on connection: Connection) {
        self.counts.deliveries += 1
        guard self.isLossy else {
            connection.down.append(.events(push))
            return
        }
        switch self.dice.below(100) {
        case 0..<6: break
        case 6..<9:
            connection.down.append(.events(push))
            connection.down.append(.events(push))
        case 9..<14 where !connection.down.isEmpty:
            let earlier = connection.down.removeLast()
            connection.down.append(.events(push))
            connection.down.append(earlier)
        default: connection.down.append(.events(push))
        }
    }

    // MARK: Frames of heads

    func headChanged(_ key: ConversationKey, at socket: SocketKey, isWhole: Bool) {
        guard let connection = self.connections[socket] else { return }
        if isWhole { connection.wholeHeads.insert(key) }
        self.perform(connection.frames.headChanged(key, at: self.clock.monotonic), on: connection)
    }

    func frameTimerFired(_ socket: SocketKey) {
        guard let connection = self.connections[socket] else { return }
        self.perform(connection.frames.timerFired(at: self.clock.monotonic), on: connection)
    }

    private func perform(_ action: CoalescedHeads.Action, on connection: Connection) {
        switch action {
        case .doNothing: break
        case .schedule(let delay): self.agenda.add(.frame(connection.key), at: self.clock.monotonic + delay.milliseconds)
        case .send(let frame): self.send(frame, on: connection)
        }
    }

    private func send(_ frame: CoalescedHeads.Frame, on connection: Connection) {
        var push = HeadPush()
        for key in frame.heads {
            guard let row = self.storage.head(of: connection.user, in: key) else { continue }
            let id = ConversationID(number: key.rawValue)
            if row.member.isGone {
                push.gone.append(id)
            } else if connection.wholeHeads.contains(key) {
                push.heads.append(self.head(row, to: connection.user))
            } else {
                let head = self.head(row, to: connection.user)
                push.nudges.append(HeadNudge(conversation: id, seq: head.seq, n: head.n, at: head.at, mentions: head.mentions))
            }
        }
        connection.wholeHeads.removeAll()
        if push != HeadPush() { connection.down.append(.heads(push)) }
        let marks = frame.reads.compactMap { read in
            self.oracle.names[read.user].map {
                ReadMark(conversation: ConversationID(number: read.conversation.rawValue), user: $0, read: read.n)
            }
        }
        if !marks.isEmpty { connection.down.append(.marks(MarkPush(marks: marks))) }
    }
}
