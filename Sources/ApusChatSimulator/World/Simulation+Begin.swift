import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The initial state of a run: contacts, pairs, groups and a channel.
extension Simulation {
    func begin() {
        let users = self.population.users
        for _ in 0..<80 {
            guard let one = self.generator.pick(users), let other = self.generator.pick(users), one != other else { continue }
            self.submit(one, .contact(other, .request(text: "")))
            self.submit(other, .contact(one, .request(text: "")))
            if self.generator.chance(perMille: 350) { self.submit(one, .openPair(peer: other, new: ConversationKey(0))) }
        }
        for group in 0..<8 {
            guard let owner = self.generator.pick(users) else { continue }
            var settings = ConversationSettingsChange()
            if group % 3 == 1 { settings.history = .join }
            if group % 4 == 2 { settings.expire = 5 }
            if group == 2 || group == 3 { settings.slow = 2 }
            let members = (0..<3 + self.generator.below(9)).map { _ in self.generator.pick(users) }
            let create = CreateCommand(
                kind: group == 7 ? .channel : .group, profile: ConversationProfile(), settings: settings,
                members: group == 7 ? users.filter { _ in self.generator.chance(perMille: 500) } : members, new: ConversationKey(0))
            self.submit(owner, .create(create))
            // Most of the invited users accept their invitations.
            self.server.writeBatch()
            guard let key = self.server.rooms.last else { continue }
            for (user, person) in (self.oracle.books[key]?.people ?? [:]).sorted(by: { $0.key < $1.key })
            where person.state == .invited && self.generator.chance(perMille: 700) {
                self.submit(user, .answerInvitation(key, accepts: true))
            }
        }
        while self.server.sequencer.count > 0 { self.server.writeBatch() }
        for device in self.devices where self.generator.chance(perMille: 600) { self.connect(device) }
    }

    private func submit(_ user: UserKey, _ action: Command.Action) {
        guard let id = self.id() else { return }
        var command = self.command(user, id, action)
        self.server.drawKey(for: &command)
        _ = self.server.sequencer.enqueue(command, number: 0)
    }
}
