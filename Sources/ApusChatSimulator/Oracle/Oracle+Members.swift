import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Conversations and their members.
extension Oracle {
    func openPair(_ peer: UserKey?, _ new: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        guard let peer, peer != actor, self.own[peer] != nil, !self.deleted.contains(peer) else { throw Refusal(.notFound) }
        if let book = self.pair(actor, peer) {
            book.people[actor]?.isGone = false
            return .unchanged
        }
        let book = Book(key: new, kind: .pair, settings: ConversationSettings())
        for (user, other) in [(actor, peer), (peer, actor)] {
            let person = Person(state: .joined, role: .member)
            person.isGone = user == peer
            person.hasBlocked = self.tie(user, other).isBlocked
            person.blockSeq = person.hasBlocked ? 1 : 0
            book.people[user] = person
        }
        self.books[new] = book
        return self.append(.conversationCreate, to: book, by: actor, at: time)
    }

    func pair(_ one: UserKey, _ other: UserKey) -> Book? {
        self.books.values.first { $0.kind == .pair && $0.people[one] != nil && $0.people[other] != nil }
    }

    func create(_ create: CreateCommand, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        guard !self.deleted.contains(actor) else { throw Refusal(.notFound) }
        var settings = create.kind == .channel ? ConversationSettings.channel : ConversationSettings()
        settings.history = create.settings.history ?? settings.history
        settings.expire = create.settings.expire ?? settings.expire
        settings.slow = create.settings.slow ?? settings.slow
        let book = Book(key: create.new, kind: create.kind, settings: settings)
        let asked = self.newcomers(create.members.compactMap { $0 }, to: book, by: actor, at: time).asked
        try self.checkInvitations(of: actor, asked.count, at: time)
        book.people[actor] = Person(state: .joined, role: .owner)
        self.books[create.new] = book
        let verdict = self.append(.conversationCreate, to: book, by: actor, at: time)
        self.bring(create.members.compactMap { $0 }, to: book, by: actor, at: time)
        return verdict
    }

    func set(_ key: ConversationKey, _ update: ConversationUpdate, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        if let book = self.books[key], book.isPlain {
            guard update.changesExpiryOnly else { throw Refusal(.badRequest) }
            _ = try self.permit(.setExpiry, actor, key, at: time)
        } else {
            _ = try self.permit(.manage, actor, key, at: time)
        }
        guard let book = self.books[key] else { throw Refusal(.notFound) }
        let before = book.settings
        book.settings.history = update.settings.history ?? before.history
        book.settings.expire = update.settings.expire ?? before.expire
        book.settings.slow = update.settings.slow ?? before.slow
        book.settings.write = update.settings.write ?? before.write
        book.settings.invite = update.settings.invite ?? before.invite
        return book.settings == before ? .unchanged : self.append(.conversationSet, to: book, by: actor, at: time)
    }

    func invite(_ users: [UserKey?], _ key: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.invite, actor, key, at: time)
        let asked = self.newcomers(users.compactMap { $0 }, to: book, by: actor, at: time).asked
        try self.checkInvitations(of: actor, asked.count, at: time)
        return self.bring(users.compactMap { $0 }, to: book, by: actor, at: time) ?? .unchanged
    }

    /// Divides users into those to add and those to invite. Contacts are added unless they left or
    /// block the actor.
    private func newcomers(_ users: [UserKey], to book: Book, by actor: UserKey, at time: Int64) -> (added: [UserKey], asked: [UserKey]) {
        var added: [UserKey] = []
        var asked: [UserKey] = []
        let mayUnban = book.people[actor].map { self.allows(.manage, $0, in: book) } ?? false
        for user in users where user != actor && !added.contains(user) && !asked.contains(user) && !self.deleted.contains(user) {
            let state = book.people[user]?.state
            if state == .joined || state == .invited { continue }
            if book.people[user]?.isBanned(at: time) ?? false, !mayUnban { continue }
            let tie = self.tie(user, actor)
            if tie.relation == .friend, !tie.isBlocked, state != .left { added.append(user) } else { asked.append(user) }
        }
        return (added, asked)
    }

    @discardableResult
    private func bring(_ users: [UserKey], to book: Book, by actor: UserKey, at time: Int64) -> Verdict? {
        let (added, asked) = self.newcomers(users, to: book, by: actor, at: time)
        var verdict: Verdict?
        if !asked.isEmpty {
            self.countInvitations(of: actor, asked.count, at: time)
            verdict = self.append(.memberInvite, to: book, by: actor, at: time)
            for user in asked {
                let isBlocked = self.tie(user, actor).isBlocked
                if isBlocked, book.people[user]?.isGone == false { continue }
                let person = book.people[user] ?? Person(state: .invited, role: .member)
                person.state = .invited
                person.isGone = isBlocked
                book.people[user] = person
            }
        }
        if !added.isEmpty {
            verdict = self.append(.memberJoin, to: book, by: actor, at: time)
            for user in added { self.enter(user, book) }
        }
        return verdict
    }

    /// Makes a user a member. A user who joins again sees only later entries.
    func enter(_ user: UserKey, _ book: Book, as role: MemberRole? = nil) {
        let wasHere = (book.people[user]?.left ?? 0) > 0
        let person = book.people[user] ?? Person(state: .joined, role: .member)
        person.state = .joined
        person.role = role ?? (book.kind == .channel ? .reader : .member)
        person.first = book.settings.history == .all && !wasHere ? 1 : book.lastSeq
        person.left = 0
        person.floor = book.lastN
        person.read = book.lastN
        person.silencedUntil = 0
        person.bannedUntil = 0
        person.isGone = false
        book.people[user] = person
    }

    func answerInvitation(_ key: ConversationKey, _ accepts: Bool, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.accept, actor, key, at: time)
        guard accepts else {
            self.withdraw(actor, book)
            return .unchanged
        }
        let verdict = self.append(.memberJoin, to: book, by: actor, at: time)
        self.enter(actor, book)
        return verdict
    }

    func withdraw(_ user: UserKey, _ book: Book) {
        book.people[user]?.state = .left
        book.people[user]?.isGone = true
    }

    func leave(_ key: ConversationKey, _ forgets: Bool, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, person) = try self.permit(.leave, actor, key, at: time)
        if person.state == .invited || person.state == .requested {
            self.withdraw(actor, book)
            return .unchanged
        }
        if person.state != .joined {
            book.people[actor]?.isGone = true
            return .unchanged
        }
        if book.kind == .pair {
            book.people[actor]?.isGone = true
            book.people[actor]?.first = book.lastSeq + 1
            book.people[actor]?.floor = book.lastN
            book.people[actor]?.read = book.lastN
            return .unchanged
        }
        let verdict = self.append(.memberLeave, to: book, by: actor, at: time)
        self.depart(actor, as: .left, book, forgets: forgets)
        if person.role == .owner { self.appointSuccessor(book, at: time) }
        return verdict
    }

    private func depart(_ user: UserKey, as state: MemberState, _ book: Book, forgets: Bool) {
        book.people[user]?.state = state
        book.people[user]?.left = book.lastSeq
        book.people[user]?.isGone = forgets
        self.dismissCaller(user, book)
    }

    /// Makes the member with the highest role the owner; among several, the member with the lowest
    /// key. A guest does not become the owner.
    private func appointSuccessor(_ book: Book, at time: Int64) {
        var best: (user: UserKey, rank: Int)?
        for user in book.people.keys.sorted() {
            guard let person = book.people[user], person.state == .joined, person.role != .guest, person.role != .owner else { continue }
            if best == nil || Self.rank(person.role) > best?.rank ?? 0 { best = (user, Self.rank(person.role)) }
        }
        guard let best else { return }
        book.people[best.user]?.role = .owner
        self.append(.memberRole, to: book, by: best.user, at: time)
    }

    /// Returns the users on which the actor may act. Throws a refusal if the actor may not act on
    /// one of the named users.
    private func subordinates(_ users: [UserKey?], _ states: [MemberState], below person: Person, _ book: Book) throws(Refusal) -> [UserKey]
    {
        var found: [UserKey] = []
        for user in users {
            guard let user, let target = book.people[user], states.contains(target.state) else { throw Refusal(.notFound) }
            if target.state == .joined, Self.rank(target.role) >= Self.rank(person.role) { throw Refusal(.forbidden) }
            if !found.contains(user) { found.append(user) }
        }
        if found.isEmpty { throw Refusal(.notFound) }
        return found
    }

    func remove(_ users: [UserKey?], _ key: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, person) = try self.permit(.manage, actor, key, at: time)
        let targets = try self.subordinates(users, [.joined, .invited], below: person, book)
        let joined = targets.filter { book.people[$0]?.state == .joined }
        for user in targets where book.people[user]?.state == .invited { self.withdraw(user, book) }
        guard !joined.isEmpty else { return .unchanged }
        let verdict = self.append(.memberRemove, to: book, by: actor, at: time)
        for user in joined { self.depart(user, as: .removed, book, forgets: false) }
        return verdict
    }

    func ban(_ users: [UserKey?], _ isOn: Bool, _ until: Int64, _ key: ConversationKey, by actor: UserKey, at time: Int64)
        throws(Refusal) -> Verdict
    {
        let (book, person) = try self.permit(.manage, actor, key, at: time)
        var targets: [UserKey] = []
        for user in users {
            guard let user, user != actor else { throw Refusal(.notFound) }
            let target = book.people[user]
            if isOn, let target, target.state == .joined, Self.rank(target.role) >= Self.rank(person.role) { throw Refusal(.forbidden) }
            let isChanged = (target?.state == .banned) != isOn || (isOn && target?.bannedUntil != until)
            if isChanged, !targets.contains(user) { targets.append(user) }
        }
        guard !targets.isEmpty else { return .unchanged }
        let verdict = self.append(isOn ? .memberBan : .memberUnban, to: book, by: actor, at: time)
        for user in targets {
            if book.people[user]?.state == .joined {
                self.depart(user, as: .banned, book, forgets: true)
                book.people[user]?.bannedUntil = until
            } else {
                let target = book.people[user] ?? Person(state: .unknown, role: .member)
                target.state = isOn ? .banned : .removed
                target.bannedUntil = until
                if isOn { target.isGone = true }
                book.people[user] = target
            }
        }
        return verdict
    }

    func silence(_ users: [UserKey?], _ until: Int64, _ key: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict
    {
        let (book, person) = try self.permit(.manage, actor, key, at: time)
        for user in try self.subordinates(users, [.joined], below: person, book) { book.people[user]?.silencedUntil = until }
        return self.append(.memberMute, to: book, by: actor, at: time)
    }

    func setRole(_ users: [UserKey?], _ role: MemberRole, _ key: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal)
        -> Verdict
    {
        let (book, person) = try self.permit(.manage, actor, key, at: time)
        let targets = try self.subordinates(users, [.joined], below: person, book)
        guard Self.rank(role) < Self.rank(person.role) else { throw Refusal(.forbidden) }
        let changed = targets.filter { book.people[$0]?.role != role }
        guard !changed.isEmpty else { return .unchanged }
        for user in changed { book.people[user]?.role = role }
        return self.append(.memberRole, to: book, by: actor, at: time)
    }

    func transfer(_ key: ConversationKey, to user: UserKey?, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, person) = try self.permit(.transfer, actor, key, at: time)
        let heirs = try self.subordinates([user], [.joined], below: person, book)
        book.people[actor]?.role = .admin
        for heir in heirs { book.people[heir]?.role = .owner }
        return self.append(.memberRole, to: book, by: actor, at: time)
    }
}
