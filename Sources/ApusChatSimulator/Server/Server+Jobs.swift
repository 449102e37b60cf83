import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The periodic work of the server.
extension Server {
    /// The number that marks the commands of `maintain`.
    private static let maintenanceNumber: Int64 = -1

    /// Submits the commands that are due: scheduled messages, ends of polls, removals of expired
    /// messages, and erasure of deleted accounts.
    func maintain() {
        let time = self.stamps.stamp(wall: self.clock.wall, monotonic: self.clock.monotonic)
        // After a jump of the clock, no message is removed or sent because of its time.
        guard self.stamps.isTrusted else { return }
        // The server waits for its commands before it submits further commands.
        guard self.maintaining == 0 else { return }
        for address in self.fired { self.enqueue(.unschedule(address.id), by: address.user) }
        self.maintenanceBefore = self.maintenance
        let commands = try? self.maintenance.next(self.storage, at: time) { row in
            SendCommand(conversation: row.conversation, content: .success(MessageContent(kind: .text, body: row.body)))
        }
        for command in commands ?? [] {
            if self.bug == .scheduleFiresTwice, case .sendScheduled(let address, let send) = command.action {
                self.fire(address, send)
            } else if self.sequencer.enqueue(command, number: Self.maintenanceNumber) == nil {
                self.maintaining += 1
            } else {
                self.maintenance = self.maintenanceBefore
            }
        }
    }

    /// Counts the answer to a command of `maintain`. If the command could not be written, repeats
    /// the work.
    func maintained(_ entry: Sequencer.Entry, _ decision: Decision) {
        guard entry.number == Self.maintenanceNumber else { return }
        self.maintaining = max(0, self.maintaining - 1)
        if case .refused(let error) = decision, error.code.isTemporary { self.maintenance = self.maintenanceBefore }
    }

    /// Sends a scheduled message with a new id, as the planted bug does. A later batch removes the
    /// message from the schedule.
    private func fire(_ address: ScheduledAddress, _ send: SendCommand) {
        guard !self.fired.contains(address) else { return }
        self.fired.append(address)
        self.lastNumber += 1
        guard let id = ClientID("s\(self.lastNumber)") else { return }
        let identity = RequestIdentity(id: id, hash: RequestHash(UInt64(self.lastNumber), 2, 0, 0))
        _ = self.sequencer.enqueue(Command(actor: address.user, device: DeviceKey(0), request: identity, action: .send(send)), number: 0)
    }

    /// Removes the content of the messages of a conversation that are older than the given time.
    func retain(_ key: ConversationKey, milliseconds: Int64) {
        let time = self.stamps.stamp(wall: self.clock.wall, monotonic: self.clock.monotonic)
        guard self.stamps.isTrusted else { return }
        let old = self.storage.events(of: key, before: time - milliseconds, limit: 10)
        if !old.isEmpty { self.enqueue(.blank(old, .expired)) }
    }

    /// Starts the requests for the linked pages of new and edited texts.
    func fetchPages(of batch: DecidedBatch) {
        for event in batch.changes.events {
            var row: EventRow?
            if event.isMessage {
                row = event
            } else if event.kind == .edit {
                row = batch.changes.targets.first { $0.seq == event.ref && $0.conversation == event.conversation }
            }
            guard let row, row.kind == .text, !row.state.isBlank, Body.hasLink(Body.text(row.body)), Body.title(row.body).isEmpty
            else { continue }
            self.agenda.add(
                .page(life: self.life, row.address, body: row.body), at: self.clock.monotonic + self.generator.number(20...8_000))
        }
    }

    /// Handles the arrival of a linked page.
    func pageArrived(life: Int, _ target: EventAddress, body: String) {
        guard life == self.life else { return }
        let text = Body.text(body)
        let title = "page of \(text)"
        self.enqueue(
            .setPreview(
                PreviewCommand(target: target, before: body, after: Body.adding(title: title, to: body), change: Body.change(title: title)))
        )
    }

    func enqueue(_ action: Command.Action, by actor: UserKey = UserKey(0)) {
        _ = self.sequencer.enqueue(Command(actor: actor, device: DeviceKey(0), request: nil, action: action), number: 0)
    }

    /// Deletes an account, and ends the sessions of its user. `Maintenance` then erases the
    /// messages.
    func deleteAccount(of user: UserKey) {
        var needs = Needs()
        needs.accounts.append(user)
        guard var row = (try? self.storage.begin(needs))?.accounts[user] else { return self.storage.abandon() }
        row.state = .deleted
        var changes = Changes()
        changes.accounts = [row]
        guard (try? self.storage.commit(changes)) != nil else { return self.faults.append("the account was not deleted") }
        self.oracle.deleted.insert(user)
        self.coverage.note(.deletedAccount)
        for connection in self.connections.values.filter({ $0.user == user }).sorted(by: { $0.key < $1.key }) {
            connection.up.removeAll()
            self.close(connection)
        }
    }

    /// Simulates a restore of the data from a complete copy: all sync tokens and caches of devices
    /// become invalid. `FaultSimulationTests` restores earlier states.
    func renewEpoch() {
        self.storage.epoch = "epoch-\(self.clock.monotonic)"
        self.restart()
    }
}
