import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Connections that do not read.
extension Server {
    func stall(_ connection: Connection) {
        self.coverage.note(.stall)
        connection.frames.hold()
        self.perform(self.router.stalled(connection.key, at: self.clock.monotonic), on: connection)
        connection.stall.batch = self.counts.batches
        for book in self.oracle.books.values where book.people[connection.user]?.state == .joined {
            connection.stall.ends[book.key] = book.lastSeq
        }
    }

    func stallTimerFired(_ socket: SocketKey) {
        guard let connection = self.connections[socket] else { return }
        self.perform(self.router.stallTimerFired(socket, at: self.clock.monotonic), on: connection)
    }

    private func perform(_ action: PushRouter.StallAction, on connection: Connection) {
        switch action {
        case .doNothing: break
        case .schedule(let delay): self.agenda.add(.stall(connection.key), at: self.clock.monotonic + delay.milliseconds)
        case .close:
            self.coverage.note(.slowClose)
            self.close(connection)
        }
    }

    /// Handles the receipt of messages by a device.
    func taken(from connection: Connection) {
        guard connection.isAnswered() else { return }
        connection.window.drained()
        guard self.router.isStalled(connection.key) else { return }
        self.router.drained(connection.key)
        if !self.hasUntold {
            let grown = connection.stall.ends.filter { key, end in
                guard let book = self.oracle.books[key], let person = book.people[connection.user] else { return false }
                return person.state == .joined && !person.isGone && book.lastSeq > end
            }
            connection.stall.owed.formUnion(grown.keys)
            connection.stall.due = self.clock.monotonic + CoalescedHeads.interval + 1
            self.agenda.add(.owed(connection.key, due: connection.stall.due), at: connection.stall.due)
        }
        connection.stall.ends = [:]
        // The planted bug discards the changes that occurred during the stall.
        if self.bug == .stalledLosesHead { connection.frames = CoalescedHeads() }
        self.perform(connection.frames.release(at: self.clock.monotonic), on: connection)
    }

    /// Checks that the connection received the position of each log with new events after a stall.
    func checkOwed(_ socket: SocketKey, due: Int64) {
        guard let connection = self.connections[socket], connection.stall.due == due, !self.router.isStalled(socket),
            !self.hasUntold
        else { return }
        let owed = connection.stall.owed.filter { self.oracle.books[$0]?.people[connection.user]?.state == .joined }
        connection.stall.owed = []
        guard let first = owed.min() else { return }
        self.faults.append("connection \(socket.rawValue) was not told after its stall that \(ConversationID(number: first.rawValue)) grew")
    }

    /// Checks that a stalled connection receives only pushes of the batch in which it stalled, and
    /// that a connection that does not read becomes stalled.
    func checkReader(of connection: Connection) {
        if self.router.isStalled(connection.key) {
            if connection.stall.batch != self.counts.batches {
                self.faults.append("connection \(connection.key.rawValue) is stalled and gets a push")
            }
        } else if connection.untaken >= 2 * SendWindow.stallBytes {
            self.faults.append("connection \(connection.key.rawValue) does not read and is not stalled")
        }
    }
}
