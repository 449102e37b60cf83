import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Calls. Each call is one message, and a conversation has at most one running call.
extension Oracle {
    /// The maximum number of members of a group that can call without a media server.
    private static let callMembers = 32

    func startCall(in key: ConversationKey, _ command: Command, at time: Int64) throws(Refusal) -> Verdict {
        let (book, person) = try self.permit(self.books[key]?.call == nil ? .call : .joinCall, command.actor, key, at: time)
        if let running = book.call { return .accepted(seq: running.seq, n: 0) }
        guard book.kind == .pair || book.people.values.filter({ $0.state == .joined }).count <= Self.callMembers else {
            throw Refusal(.limit)
        }
        let hadReadAll = max(person.read, person.floor) == book.lastN
        let verdict = self.append(.call, to: book, by: command.actor, at: time, isMessage: true)
        book.entries.last?.call = Call()
        if hadReadAll { book.people[command.actor]?.read = book.lastN }
        self.takePart(command, EventAddress(key, book.lastSeq))
        return verdict
    }

    /// Applies a reported state of a call. The actor `UserKey(0)` is the server.
    func updateCall(_ address: EventAddress, _ state: CallState, _ command: Command, at time: Int64) throws(Refusal) -> Verdict {
        let actor = command.actor
        let isServer = actor == UserKey(0)
        let book: Book
        let entry: Entry
        if isServer {
            guard let known = self.books[address.conversation], let index = known.index(of: address.seq) else { throw Refusal(.notFound) }
            (book, entry) = (known, known.entries[index])
            if entry.state.isBlank { throw Refusal(.badRequest) }
        } else {
            book = try self.permit(state == .ended ? .leaveCall : .joinCall, actor, address.conversation, at: time).0
            entry = book.entries[try self.target(address.seq, of: actor, in: book)]
        }
        guard var call = entry.call, entry.n > 0 else { throw Refusal(.badRequest) }
        if let new = Self.state(of: call, after: state, by: actor, caller: entry.sender, isPair: book.kind == .pair) {
            if new == .accepted { call.acceptedAt = time }
            if new == .ended { call.duration = max(0, time - call.acceptedAt) }
            call.state = new
            entry.call = call
            entry.changedBy = book.lastSeq + 1
            if new == .accepted { self.takePart(command, address) }
            let verdict = self.append(.callUpdate, to: book, by: isServer ? entry.sender : actor, at: time, ref: address.seq)
            book.entries.last?.call = call
            return verdict
        }
        if call.state == .accepted, !isServer {
            if state == .accepted { self.takePart(command, address) }
            if state == .ended { self.callers[address]?[command.device] = nil }
        }
        return .unchanged
    }

    private func takePart(_ command: Command, _ call: EventAddress) {
        self.callers[call, default: [:]][command.device] = command.actor
        if self.connectedDevices.contains(command.device) {
            self.absentCallers[call]?.remove(command.device)
        } else {
            self.absentCallers[call, default: []].insert(command.device)
        }
    }

    /// Removes the devices of a user who is no longer a member from the running call.
    func dismissCaller(_ user: UserKey, _ book: Book) {
        guard let call = book.call.map({ EventAddress(book.key, $0.seq) }) else { return }
        for (device, caller) in self.callers[call] ?? [:] where caller == user { self.callers[call]?[device] = nil }
    }

    /// Handles the end of the last connection of a device.
    func callerDisconnected(_ device: DeviceKey) {
        self.connectedDevices.remove(device)
        for (call, devices) in self.callers where devices[device] != nil { self.absentCallers[call, default: []].insert(device) }
    }

    /// Returns the devices whose connections prevent the server from ending a call.
    func callersThatKeep(_ call: EventAddress) -> Set<DeviceKey> {
        let devices = Set((self.callers[call] ?? [:]).keys)
        // After a reconnection, a device of a group must report again that it takes part.
        return self.books[call.conversation]?.kind == .pair ? devices : devices.subtracting(self.absentCallers[call] ?? [])
    }

    /// Returns the state of a call after a report; nil if the report has no effect.
    private static func state(of call: Call, after report: CallState, by actor: UserKey, caller: UserKey, isPair: Bool) -> CallState? {
        let isCallee = actor != caller && actor != UserKey(0)
        switch (call.state, report) {
        // A member leaves the call of a group. The call continues for the other members.
        case (.accepted, .ended): return isPair || actor == UserKey(0) ? .ended : nil
        case (.ringing, .accepted): return isCallee ? .accepted : nil
        // In a group, the call still rings for the other users.
        case (.ringing, .ended), (.ringing, .missed): return isCallee && !isPair ? nil : .missed
        case (.ringing, .declined), (.ringing, .busy):
            if actor == UserKey(0) { return nil }
            return isCallee ? (isPair ? report : nil) : .missed
        default: return nil
        }
    }
}
