import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// What a user does on a device, with what the device shows.
extension Simulation {
    func act(_ device: Device) {
        guard let conversation = self.dice.pick(device.conversations), let head = device.heads[conversation] else { return }
        device.open(conversation)
        switch self.dice.below(300) {
        case 0..<110: self.write(in: conversation, on: device)
        case 110..<150: device.read(head.n - self.dice.number(0...4), in: conversation)
        case 150..<205: self.change(in: conversation, head, on: device)
        case 205..<235: self.personalize(conversation, on: device)
        case 235..<275: self.manage(conversation, head, on: device)
        case 275..<290: self.meet(on: device)
        default: self.repeatRequest(of: device)
        }
    }

    private func write(in conversation: ConversationID, on device: Device) {
        guard let id = self.id() else { return }
        let key = ConversationKey(conversation.number)
        var mentions: [UserKey] = []
        if self.dice.chance(perMille: 200) { mentions = (0...self.dice.below(3)).compactMap { _ in self.dice.pick(self.population.users) } }
        let content = MessageContent(
            kind: .text, body: Body.json("text \(self.lastID)"), mentions: mentions, mentionsAll: self.dice.chance(perMille: 20))
        let ref = self.dice.chance(perMille: 100) ? self.message(in: conversation, on: device)?.seq ?? 0 : 0
        let send = SendCommand(conversation: key, content: .success(content), ref: ref)
        let command = self.command(device.user, device: device.index, id, .send(send))
        device.write(Device.Unsent(id: id, number: self.lastID, conversation: conversation, command: command))
    }

    /// A message that the device shows.
    func message(in conversation: ConversationID, on device: Device) -> ChatEvent? {
        guard let log = device.logs[conversation], log.count > 0 else { return nil }
        // The newest ones are the most interesting.
        let count = min(log.count, self.dice.chance(perMille: 800) ? 8 : log.count)
        for _ in 0..<4 {
            if let event = log[log.last - Int64(self.dice.below(count))], event.n != nil { return event }
        }
        return nil
    }

    func request(_ action: Command.Action, on device: Device) {
        guard let id = self.id() else { return }
        self.note("\(device.name) on \(device.index): \(action)")
        device.request(Device.Change(id: id, command: self.command(device.user, device: device.index, id, action)))
    }

    private func change(in conversation: ConversationID, _ head: ChatHead, on device: Device) {
        guard let target = self.message(in: conversation, on: device) else { return }
        let address = EventAddress(ConversationKey(conversation.number), target.seq)
        switch self.dice.below(55) {
        case 0..<18:
            guard target.sender == device.name || self.dice.chance(perMille: 50) else { return }
            self.request(.edit(address, .success(MessageContent(kind: .text, body: Body.json("edited \(self.lastID)")))), on: device)
        case 18..<28:
            guard target.sender == device.name || self.dice.chance(perMille: 200) else { return }
            self.request(.recall(address), on: device)
        case 28..<44:
            let key = self.dice.pick(["👍", "❤️", "😂", "🎉", "👀"]) ?? "👍"
            self.request(.react(address, key: key, isOn: self.dice.chance(perMille: 700)), on: device)
        case 44..<50: self.request(.pin(address, isOn: self.dice.chance(perMille: 600)), on: device)
        default: self.request(.hide(address.conversation, [target.seq]), on: device)
        }
    }

    private func personalize(_ conversation: ConversationID, on device: Device) {
        let key = ConversationKey(conversation.number)
        switch self.dice.below(6) {
        case 0...2:
            let draft = self.dice.chance(perMille: 700) ? "{\"text\":\"draft \(self.lastID)\"}" : ""
            self.request(.personalize(key, .draft(draft)), on: device)
        case 3: self.request(.personalize(key, .pin(self.dice.chance(perMille: 600))), on: device)
        case 4: self.request(.personalize(key, .archive(self.dice.chance(perMille: 500))), on: device)
        default: self.request(.personalize(key, .mute(until: self.clock.wall)), on: device)
        }
    }

    /// A program that lost its state sends a message again that was acknowledged long ago, or
    /// another one under the same id.
    private func repeatRequest(of device: Device) {
        guard let message = self.dice.pick(device.acknowledged) else { return }
        let id = message.id
        var command = message.command
        if self.dice.chance(perMille: 200) { command.request?.hash = RequestHash(self.dice.next(), 1, 0, 0) }
        device.request(Device.Change(id: id, command: command))
    }
}
