import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// What users do to conversations, and to each other.
extension Simulation {
    func manage(_ conversation: ConversationID, _ head: ChatHead, on device: Device) {
        let key = ConversationKey(conversation.number)
        if head.state == .invited {
            return self.request(.answerInvitation(key, accepts: self.dice.chance(perMille: 750)), on: device)
        }
        guard let user = self.dice.pick(self.population.users) else { return }
        let member = self.member(of: key) ?? user
        switch self.dice.below(40) {
        case 0..<13: self.request(.invite(key, [user, self.dice.pick(self.population.users)]), on: device)
        case 13..<16: self.request(.leave(key, forgets: self.dice.chance(perMille: 400)), on: device)
        case 16..<20: self.request(.remove(key, [member]), on: device)
        case 20..<23: self.request(.ban(key, [member], isOn: true), on: device)
        case 23..<26: self.request(.ban(key, [member], isOn: false), on: device)
        case 26..<29:
            let until = self.dice.chance(perMille: 600) ? self.clock.wall + 10_000 : 0
            self.request(.silence(key, [member], until: until), on: device)
        case 29..<33: self.request(.setRole(key, [member], self.dice.pick([.admin, .member, .reader]) ?? .member), on: device)
        case 33: self.request(.transfer(key, to: member), on: device)
        case 34: self.request(.answerInvitation(key, accepts: true), on: device)
        default: self.request(.set(key, self.update()), on: device)
        }
    }

    /// A user that has something to do with a conversation, also a former one.
    private func member(of key: ConversationKey) -> UserKey? {
        self.dice.pick((self.oracle.books[key]?.people.keys).map { $0.sorted() } ?? [])
    }

    private func update() -> ConversationUpdate {
        var update = ConversationUpdate()
        switch self.dice.below(4) {
        case 0: update.settings.expire = self.dice.pick([0, 3, 10])
        case 1: update.settings.history = self.dice.pick([.all, .join])
        case 2: update.settings.write = self.dice.pick([.members, .members, .admins])
        default: update.settings.invite = self.dice.pick([.members, .members, .admins])
        }
        return update
    }

    /// Contacts, blocks, and new conversations.
    func meet(on device: Device) {
        guard let peer = self.peer(of: device) else { return }
        switch self.dice.below(20) {
        case 0..<5: self.request(.contact(peer, .request(text: "")), on: device)
        case 5..<7: self.request(.contact(peer, .remove), on: device)
        case 7..<9: self.request(.contact(peer, .block(true)), on: device)
        case 9..<12: self.request(.contact(peer, .block(false)), on: device)
        case 12..<18: self.request(.openPair(peer: peer, new: ConversationKey(0)), on: device)
        default:
            let members = (0..<1 + self.dice.below(6)).map { _ in self.dice.pick(self.population.users) }
            let create = CreateCommand(profile: ConversationProfile(), members: members, new: ConversationKey(0))
            self.request(.create(create), on: device)
        }
    }

    /// Mostly a user of a pair with the one of the device, so that what they do concerns messages.
    private func peer(of device: Device) -> UserKey? {
        if self.dice.chance(perMille: 600), let room = self.dice.pick(self.server.rooms), let book = self.oracle.books[room],
            book.kind == .pair,
            book.people[device.user] != nil
        {
            return book.people.keys.first { $0 != device.user }
        }
        return self.dice.pick(self.population.users)
    }
}
