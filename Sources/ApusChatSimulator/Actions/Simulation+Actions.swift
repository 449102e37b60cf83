import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

// The actions of a user on a device, which depend on the state that the device shows.
extension Simulation {
    func act(_ device: Device) {
        guard !device.isRetired, let conversation = self.generator.pick(device.conversations), let head = device.heads[conversation] else {
            return
        }
        device.open(conversation)
        switch self.generator.below(300) {
        case 0..<110: self.write(in: conversation, on: device)
        case 110..<150: device.read(head.n - self.generator.number(0...4), in: conversation)
        case 150..<195: self.change(in: conversation, head, on: device)
        case 195..<210: if let poll = self.poll(in: conversation, on: device) { self.vote(poll, on: device) }
        case 210..<235: self.personalize(conversation, on: device)
        case 235..<275:
            if self.generator.chance(perMille: 600), let (device, head) = self.staff() {
                self.manage(head.conversation, head, on: device)
            } else {
                self.manage(conversation, head, on: device)
            }
        case 275..<286: self.meet(on: device)
        case 286..<292: self.call(in: conversation, on: device)
        default: self.repeatRequest(of: device)
        }
    }

    private func write(in conversation: ConversationID, on device: Device) {
        guard let id = self.id() else { return }
        let key = ConversationKey(conversation.number)
        let roll = self.generator.below(100)
        guard roll >= 7 else { return self.schedule(in: key, on: device) }
        guard roll < 93 else { return self.forward(from: conversation, on: device) }
        var send = SendCommand(conversation: key, content: .success(roll < 16 ? self.poll() : self.text()))
        if self.generator.chance(perMille: 100) { send.ref = self.message(in: conversation, on: device)?.seq ?? 0 }
        if self.generator.chance(perMille: 120), let first = self.message(in: conversation, on: device) {
            send.thread = first.thread ?? first.seq
        }
        let command = self.command(device.user, device: device.index, id, .send(send))
        device.write(Device.Unsent(id: id, number: self.lastID, conversation: conversation, command: command))
    }

    private func text() -> MessageContent {
        var mentions: [UserKey] = []
        if self.generator.chance(perMille: 200) {
            mentions = (0...self.generator.below(3)).compactMap { _ in self.generator.pick(self.population.users) }
        }
        let kind = self.generator.chance(perMille: 250) ? "link" : "text"
        return MessageContent(
            kind: .text, body: Body.json("\(kind) \(self.lastID)"), mentions: mentions, mentionsAll: self.generator.chance(perMille: 20))
    }

    private func poll() -> MessageContent {
        let options = 2 + self.generator.below(3)
        var content = MessageContent(
            kind: .poll, body: Body.poll("poll \(self.lastID)", options: options), options: options,
            allowsManyVotes: self.generator.chance(perMille: 400), hidesVoters: self.generator.chance(perMille: 300))
        if self.generator.chance(perMille: 400) { content.closesAt = self.clock.wall + self.generator.number(500...15_000) }
        return content
    }

    private func schedule(in key: ConversationKey, on device: Device) {
        let body = Body.json("later \(self.lastID)")
        let send = SendCommand(conversation: key, content: .success(MessageContent(kind: .text, body: body)))
        let sendAt = self.clock.wall + self.generator.number(100...12_000)
        self.request(.schedule(ScheduleCommand(send: send, kind: .text, body: body, sendAt: sendAt)), on: device)
        if let id = device.changes.last?.id { device.scheduled.append(id) }
    }

    /// Returns a message that the device shows; nil if it shows none.
    func message(in conversation: ConversationID, on device: Device) -> ChatEvent? {
        guard let log = device.logs[conversation], log.count > 0 else { return nil }
        // The newest messages are chosen more often, as by real users.
        let count = min(log.count, self.generator.chance(perMille: 800) ? 8 : log.count)
        for _ in 0..<4 {
            if let event = log[log.last - Int64(self.generator.below(count))], event.n != nil { return event }
        }
        return nil
    }

    /// Returns a poll among the newest messages that the device shows; nil if they contain no poll.
    private func poll(in conversation: ConversationID, on device: Device) -> ChatEvent? {
        self.generator.pick(self.newest(in: conversation, on: device).filter { $0.kind == .poll && !$0.state.isBlank })
    }

    /// Returns the newest events that the device shows.
    private func newest(in conversation: ConversationID, on device: Device) -> [ChatEvent] {
        guard let log = device.logs[conversation], log.count > 0 else { return [] }
        return (0..<min(log.count, 40)).compactMap { log[log.last - Int64($0)] }
    }

    func request(_ action: Command.Action, on device: Device) {
        guard let id = self.id() else { return }
        self.note("\(device.name) on \(device.index): \(action)")
        device.request(Device.Change(id: id, command: self.command(device.user, device: device.index, id, action)))
    }

    /// Forwards messages to another conversation. Sometimes also forwards a message that the device
    /// does not show, or recalls a forwarded message afterwards.
    private func forward(from conversation: ConversationID, on device: Device) {
        guard let target = self.generator.pick(device.conversations), let id = self.id() else { return }
        let shown = (0...self.generator.below(3)).compactMap { _ in self.message(in: conversation, on: device) }
        var seqs = shown.map(\.seq)
        if self.generator.chance(perMille: 200) { seqs.append(self.generator.number(1...12)) }
        guard !seqs.isEmpty else { return }
        let action = Command.Action.forward(ConversationKey(target.number), .success([]))
        let command = self.command(device.user, device: device.index, id, action)
        let originals = Originals(conversation: ConversationKey(conversation.number), seqs: seqs)
        device.request(Device.Change(id: id, command: command, originals: originals))
        if self.generator.chance(perMille: 300), let own = shown.first(where: { $0.sender == device.name }) {
            self.request(.recall(EventAddress(originals.conversation, own.seq)), on: device)
        }
    }

    /// Starts a call, or reports a state of a recent call.
    private func call(in conversation: ConversationID, on device: Device) {
        let known = self.oracle.callers.keys.sorted { ($0.conversation, $0.seq) < ($1.conversation, $1.seq) }
        let calls = known.filter { self.oracle.books[$0.conversation]?.call?.seq == $0.seq || self.generator.chance(perMille: 50) }
        guard let call = self.generator.pick(calls), self.generator.chance(perMille: 700) else {
            return self.request(.startCall(ConversationKey(conversation.number), .audio), on: device)
        }
        let place = ConversationID(number: call.conversation.rawValue)
        let parties = self.devices.filter { !$0.isRetired && $0.heads[place] != nil }
        let states: [CallState] = [.accepted, .accepted, .accepted, .declined, .busy, .ended, .missed]
        // Devices that take part in the call report its end more often than other members report
        // its states.
        let callers = parties.filter { self.oracle.callers[call]?[DeviceKey(Int64($0.index))] != nil }
        if self.generator.chance(perMille: 300), let caller = self.generator.pick(callers) {
            return self.request(.updateCall(call, .ended), on: caller)
        }
        guard let party = self.generator.pick(parties), let state = self.generator.pick(states) else { return }
        self.request(.updateCall(call, state), on: party)
    }

    private func vote(_ poll: ChatEvent, on device: Device) {
        let address = EventAddress(ConversationKey(poll.conversation.number), poll.seq)
        if poll.sender == device.name, self.generator.chance(perMille: 150) { return self.request(.closePoll(address), on: device) }
        let options = poll.votes.indices.filter { _ in self.generator.chance(perMille: 400) }
        self.request(.vote(address, options: options), on: device)
    }

    private func change(in conversation: ConversationID, _ head: ChatHead, on device: Device) {
        if self.generator.chance(perMille: 250), let poll = self.poll(in: conversation, on: device) { return self.vote(poll, on: device) }
        guard let target = self.message(in: conversation, on: device) else { return }
        let address = EventAddress(ConversationKey(conversation.number), target.seq)
        switch self.generator.below(60) {
        case 0..<18:
            guard target.sender == device.name || self.generator.chance(perMille: 50) else { return }
            let kind = self.generator.chance(perMille: 300) ? "link edited" : "edited"
            self.request(.edit(address, .success(MessageContent(kind: .text, body: Body.json("\(kind) \(self.lastID)")))), on: device)
        case 18..<28:
            guard target.sender == device.name || self.generator.chance(perMille: 200) else { return }
            self.request(.recall(address), on: device)
        case 28..<44:
            let key = self.generator.pick(["👍", "❤️", "😂", "🎉", "👀"]) ?? "👍"
            self.request(.react(address, key: key, isOn: self.generator.chance(perMille: 700)), on: device)
        case 44..<50: self.request(.pin(address, isOn: self.generator.chance(perMille: 600)), on: device)
        case 50..<55:
            let own = self.newest(in: conversation, on: device).filter { $0.sender == device.name && $0.body["preview"] != nil }
            guard let seq = self.generator.chance(perMille: 100) ? target.seq : self.generator.pick(own)?.seq else { return }
            self.request(.removePreview(EventAddress(address.conversation, seq)), on: device)
        default: self.request(.hide(address.conversation, [target.seq]), on: device)
        }
    }

    private func personalize(_ conversation: ConversationID, on device: Device) {
        let key = ConversationKey(conversation.number)
        switch self.generator.below(8) {
        case 0...2:
            let draft = self.generator.chance(perMille: 700) ? "{\"text\":\"draft \(self.lastID)\"}" : ""
            self.request(.personalize(key, .draft(draft)), on: device)
        case 3: self.request(.personalize(key, .pin(self.generator.chance(perMille: 600))), on: device)
        case 4: self.request(.personalize(key, .archive(self.generator.chance(perMille: 500))), on: device)
        case 5: self.request(.personalize(key, .markUnread(self.generator.chance(perMille: 700))), on: device)
        case 6:
            guard let id = self.generator.pick(device.scheduled) else { return }
            self.request(.unschedule(id), on: device)
        default: self.request(.personalize(key, .mute(until: self.generator.chance(perMille: 700) ? self.clock.wall : 0)), on: device)
        }
    }

    /// Simulates a program that lost its state: it repeats an acknowledged message, or sends
    /// another message with the same id.
    private func repeatRequest(of device: Device) {
        guard let message = self.generator.pick(device.acknowledged) else { return }
        let id = message.id
        var command = message.command
        if self.generator.chance(perMille: 200) { command.request?.hash = RequestHash(self.generator.next(), 1, 0, 0) }
        device.request(Device.Change(id: id, command: command))
    }
}
