import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// The actions on conversations, their members and other users.
extension Simulation {
    func manage(_ conversation: ConversationID, _ head: ChatHead, on device: Device) {
        let key = ConversationKey(conversation.number)
        if head.state == .invited {
            return self.request(.answerInvitation(key, accepts: self.generator.chance(perMille: 750)), on: device)
        }
        guard let user = self.generator.pick(self.population.users) else { return }
        let member = self.member(of: key) ?? user
        let isStaff = head.role == .owner || head.role == .admin
        if isStaff, self.generator.chance(perMille: 300) {
            let asked = self.oracle.books[key]?.people.filter { $1.state == .requested }.keys.sorted() ?? []
            if let user = self.generator.pick(asked) {
                return self.request(.answerRequest(key, user, approves: self.generator.chance(perMille: 700)), on: device)
            }
        }
        // Actions that only owners and admins may perform are requested mostly by these members.
        let roll =
            isStaff || self.generator.chance(perMille: 200)
            ? self.generator.below(50) : self.generator.pick([0, 1, 2, 3, 13, 13, 34, 35]) ?? 0
        switch roll {
        case 0..<13: self.request(.invite(key, [user, self.generator.pick(self.population.users)]), on: device)
        case 13..<16: self.request(.leave(key, forgets: self.generator.chance(perMille: 400)), on: device)
        case 16..<20: self.request(.remove(key, [member]), on: device)
        case 20..<23:
            let until = self.generator.chance(perMille: 500) ? self.clock.wall + self.generator.number(500...10_000) : 0
            self.request(.ban(key, [member], isOn: true, until: until), on: device)
        case 23..<26: self.request(.ban(key, [member], isOn: false), on: device)
        case 26..<29:
            let until = self.generator.chance(perMille: 600) ? self.clock.wall + 10_000 : 0
            self.request(.silence(key, [member], until: until), on: device)
        case 29..<33: self.request(.setRole(key, [member], self.generator.pick([.admin, .member, .reader]) ?? .member), on: device)
        case 33: self.request(.transfer(key, to: member), on: device)
        case 34: self.request(.answerInvitation(key, accepts: true), on: device)
        case 40..<46: self.link(to: key, on: device)
        case 46: self.request(.answerRequest(key, member, approves: true), on: device)
        default: self.request(.set(key, self.update()), on: device)
        }
    }

    private func link(to key: ConversationKey, on device: Device) {
        if self.generator.chance(perMille: 250) {
            let codes = self.server.codes.filter { $0.conversation == key || self.generator.chance(perMille: 20) }
            if let code = self.generator.pick(codes)?.code { return self.request(.revokeLink(code), on: device) }
        }
        let terms = LinkTerms(
            code: "", expiresAt: self.generator.chance(perMille: 300) ? self.clock.wall + self.generator.number(500...20_000) : 0,
            uses: self.generator.pick([nil, 1, 1, 2]) ?? nil, role: self.generator.pick([.member, .reader, .guest]) ?? .member,
            needsApproval: self.generator.chance(perMille: 300))
        self.request(.createLink(key, terms), on: device)
    }

    /// Returns a device of an owner or an admin, and the head of a conversation that the user
    /// manages. Examines at most twelve random devices; nil if none of them belongs to an owner or
    /// an admin.
    func staff() -> (Device, ChatHead)? {
        for _ in 0..<12 {
            guard let device = self.generator.pick(self.devices) else { return nil }
            let managed = device.conversations.compactMap { device.heads[$0] }.filter {
                $0.state == .joined && ($0.kind == .group || $0.kind == .channel) && ($0.role == .owner || $0.role == .admin)
            }
            if let head = self.generator.pick(managed) { return (device, head) }
        }
        return nil
    }

    /// Returns a member, a former member, or an invited or banned user of a conversation.
    private func member(of key: ConversationKey) -> UserKey? {
        self.generator.pick((self.oracle.books[key]?.people.keys).map { $0.sorted() } ?? [])
    }

    private func update() -> ConversationUpdate {
        var update = ConversationUpdate()
        switch self.generator.below(5) {
        case 4: update.settings.slow = self.generator.pick([0, 2, 5])
        case 0: update.settings.expire = self.generator.pick([0, 3, 10])
        case 1: update.settings.history = self.generator.pick([.all, .join])
        case 2: update.settings.write = self.generator.pick([.members, .members, .admins])
        default: update.settings.invite = self.generator.pick([.members, .members, .admins])
        }
        return update
    }

    /// Performs an action with contacts, blocks, invite links or new conversations.
    func meet(on device: Device) {
        if self.generator.chance(perMille: 350) {
            // A code is used only after the server has sent the answer that contains it.
            let codes = self.server.codes.suffix(12).filter { self.oracle.links[$0.code] != nil }
            if let code = self.generator.pick(codes)?.code { return self.request(.joinByLink(code), on: device) }
        }
        guard let peer = self.peer(of: device) else { return }
        switch self.generator.below(20) {
        case 0..<5: self.request(.contact(peer, .request(text: "")), on: device)
        case 5..<7: self.request(.contact(peer, .remove), on: device)
        case 7..<9: self.request(.contact(peer, .block(true)), on: device)
        case 9..<12: self.request(.contact(peer, .block(false)), on: device)
        case 12..<18: self.request(.openPair(peer: peer, new: ConversationKey(0)), on: device)
        default:
            let members = (0..<1 + self.generator.below(6)).map { _ in self.generator.pick(self.population.users) }
            let create = CreateCommand(profile: ConversationProfile(), members: members, new: ConversationKey(0))
            self.request(.create(create), on: device)
        }
    }

    /// Returns a random user. Prefers the other user of an existing pair, so that the action
    /// affects a conversation with messages.
    private func peer(of device: Device) -> UserKey? {
        if self.generator.chance(perMille: 600), let room = self.generator.pick(self.server.rooms), let book = self.oracle.books[room],
            book.kind == .pair,
            book.people[device.user] != nil
        {
            return book.people.keys.first { $0 != device.user }
        }
        return self.generator.pick(self.population.users)
    }
}
