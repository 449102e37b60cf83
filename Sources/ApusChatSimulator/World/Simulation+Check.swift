import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// The conditions that must hold at the end of a run.
extension Simulation {
    func check() {
        for device in self.devices where !device.isRetired {
            device.expire()
            if let fault = self.fault(of: device) {
                self.server.faults.append("device \(device.index) of \(device.name): \(fault)")
                return
            }
        }
        self.checkSchedule()
        self.checkCalls()
        for (address, tie) in self.oracle.ties {
            let row = self.server.storage.contacts(of: address.owner, after: nil, limit: 1_000).first { $0.address.peer == address.peer }
            if row?.relation ?? .none != tie.relation || row?.isBlocked ?? false != tie.isBlocked {
                self.server.faults.append("the contact \(address) is \(String(describing: row)) instead of \(tie)")
            }
        }
    }

    /// Checks that the schedule contains exactly the scheduled messages that were not sent.
    private func checkSchedule() {
        var plans = 0
        for user in self.population.users {
            for row in self.server.storage.scheduled(of: user, limit: 1_000) {
                plans += 1
                let plan = Plan(
                    conversation: row.conversation, text: Body.text(row.body), hash: row.hash, sendAt: row.sendAt, failure: row.failure)
                if self.oracle.plans[row.address] != plan {
                    self.server.faults.append("\(plan) is in the schedule instead of \(String(describing: self.oracle.plans[row.address]))")
                }
            }
        }
        if plans != self.oracle.plans.count {
            self.server.faults.append("\(plans) messages are scheduled instead of \(self.oracle.plans.count)")
        }
    }

    /// Checks that each conversation has at most one running call. Also checks that the server
    /// tracks the call, that it does not ring, and that a device takes part.
    private func checkCalls() {
        var running: Set<EventAddress> = []
        for (key, book) in self.oracle.books {
            let calls = book.entries.filter { entry in entry.n > 0 && !entry.state.isBlank && entry.call.map { !$0.isOver } ?? false }
            if calls.count > 1 { self.server.faults.append("\(calls.count) calls run in \(key.rawValue)") }
            for entry in calls {
                running.insert(EventAddress(key, entry.seq))
                if entry.call?.state == .ringing { self.server.faults.append("the call \(entry.seq) in \(key.rawValue) rings forever") }
                let devices = self.oracle.callersThatKeep(EventAddress(key, entry.seq))
                if !self.server.connections.values.contains(where: { devices.contains(DeviceKey(Int64($0.device))) }) {
                    self.server.faults.append("the call \(entry.seq) in \(key.rawValue) runs without a device")
                }
            }
        }
        let known = Set(self.server.storage.calls(limit: 10_000))
        if known != running { self.server.faults.append("the calls \(known) run instead of \(running)") }
    }

    private func fault(of device: Device) -> String? {
        let expected = self.oracle.books.values.filter { book in book.people[device.user].map { !$0.isGone } ?? false }
        let keys = expected.map { ConversationID(number: $0.key.rawValue) }.sorted()
        guard device.conversations == keys else { return "it lists \(device.conversations) instead of \(keys)" }
        for book in expected {
            if let fault = self.fault(of: device, in: book) { return "\(ConversationID(number: book.key.rawValue)): \(fault)" }
        }
        return self.sendFault(of: device)
    }

    private func fault(of device: Device, in book: Book) -> String? {
        let conversation = ConversationID(number: book.key.rawValue)
        guard let head = device.heads[conversation], let person = book.people[device.user] else { return "there is no head" }
        if let fault = self.oracle.fault(of: head, to: device.user) { return fault }
        guard let range = person.range(last: book.lastSeq) else { return nil }
        guard let log = device.logs[conversation] else { return "there is no log" }
        guard log.last == range.upperBound else { return "the log ends with \(log.last) instead of \(range.upperBound)" }
        for seq in range {
            guard let event = log[seq], let index = book.index(of: seq) else { return "event \(seq) is missing" }
            if let fault = self.fault(of: event, book.entries[index], in: book, to: person, device.user) { return fault }
        }
        return nil
    }

    /// Compares a stored event with the entry of the oracle. A device can still store content that
    /// expired or that the user removed on another device. A former member receives no later
    /// changes. A block does not remove stored reactions, and its end does not restore them.
    private func fault(of event: ChatEvent, _ entry: Entry, in book: Book, to person: Person, _ user: UserKey) -> String? {
        guard event.seq == entry.seq, event.n ?? 0 == entry.n else { return "event \(entry.seq) has another place" }
        if entry.changedUnseenBy.contains(user) || entry.deletedBy.contains(user) || entry.state == .expired || entry.state == .erased {
            return nil
        }
        if let target = book.index(of: entry.ref), entry.n == 0 {
            let state = book.entries[target].state
            if book.entries[target].deletedBy.contains(user) || state == .expired || state == .erased { return nil }
        }
        if event.kind != .hidden, self.isOver(entry, in: book) {
            return event.state.isBlank && event.body.isEmpty ? nil : "event \(entry.seq) has content after its expiry"
        }
        // The message expired on the device before the recall arrived.
        if entry.state == .recalled, event.state == .expired, event.body.isEmpty { return nil }
        if person.state != .joined, entry.changedBy > person.left { return nil }
        if person.hasBlocked, !entry.reactions.isEmpty || entry.poll != nil || entry.kind == .vote { return nil }
        return self.oracle.fault(of: event, in: book, to: person, user)
            ?? self.oracle.threadFault(of: event, in: book, user, isStored: true)
    }

    /// Returns whether a message, or the target of an edit, has expired by the clock of the
    /// devices. The server may still store the content.
    private func isOver(_ entry: Entry, in book: Book) -> Bool {
        let message = entry.repeatsContent ? book.index(of: entry.ref).map { book.entries[$0] } : entry
        guard let time = message?.expiresAt, time > 0 else { return false }
        return time <= self.clock.device
    }

    /// Checks that each acknowledged message is in the log exactly once, at the acknowledged
    /// position, and in the order in which the device sent it.
    private func sendFault(of device: Device) -> String? {
        guard device.outbox.isEmpty, device.changes.isEmpty else { return "it waits for answers" }
        var last: [ConversationID: (number: Int, seq: Int64)] = [:]
        for message in device.acknowledged.sorted(by: { $0.number < $1.number }) {
            let conversation = message.answer.conversation
            let entries = self.oracle.books[ConversationKey(conversation.number)]?.entries ?? []
            let found = entries.filter { $0.sender == device.user && $0.id == message.id }
            guard found.count == 1, found[0].seq == message.answer.seq, found[0].n == message.answer.n else {
                return "message \(message.id) is acknowledged as \(message.answer.seq) and in the log as \(found.map(\.seq))"
            }
            if let before = last[conversation], before.seq >= message.answer.seq {
                return "message \(message.id) overtook an earlier one of its device"
            }
            last[conversation] = (message.number, message.answer.seq)
        }
        return nil
    }
}
