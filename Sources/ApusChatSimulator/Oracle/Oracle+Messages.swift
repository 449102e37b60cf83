import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Messages and their changes.
extension Oracle {
    func send(_ send: SendCommand, _ command: Command, at time: Int64) throws(Refusal) -> Verdict {
        let actor = command.actor
        guard let request = command.request else { throw Refusal(.badRequest) }
        if let sent = self.books[send.conversation]?.entries.first(where: { $0.sender == actor && $0.id == request.id }) {
            return sent.hash == request.hash ? .repeated(seq: sent.seq, n: sent.n) : .refused(.conflict)
        }
        let (book, person) = try self.permit(.send, actor, send.conversation, at: time)
        guard case .success(let content) = send.content else { throw Refusal(.badRequest) }
        if content.mentionsAll { _ = try self.permit(.mentionAll, actor, send.conversation, at: time) }
        guard send.ref == 0 || (send.ref >= person.first && send.ref <= book.lastSeq) else { throw Refusal(.notFound) }
        guard send.thread == 0 || (send.thread >= person.first && send.thread <= book.lastSeq) else { throw Refusal(.notFound) }
        try self.checkPace(of: actor, person, in: book, at: time)
        let hadReadAll = max(person.read, person.floor) == book.lastN
        let verdict = self.append(
            content.kind.code, to: book, by: actor, at: time, isMessage: true, ref: send.ref, text: Body.text(content.body))
        if let entry = book.entries.last {
            entry.id = request.id
            entry.hash = request.hash
            entry.mentions = content.mentions.filter { book.people[$0]?.state == .joined }
            entry.mentionsAll = content.mentionsAll
            if content.kind == .poll {
                entry.poll = Poll(options: content.options, allowsMany: content.allowsManyVotes, closesAt: content.closesAt)
            }
        }
        if send.thread > 0, let first = book.index(of: send.thread) {
            book.entries.last?.thread = send.thread
            book.replies[send.thread, default: []].append(book.lastSeq)
            book.entries[first].changedBy = book.lastSeq
        }
        if hadReadAll { book.people[actor]?.read = book.lastN }
        return verdict
    }

    /// Throws a refusal if slow mode does not yet permit another message. The interval begins at
    /// the last message of the user in the log. Slow mode does not apply to owners and admins, or
    /// if the time of the last message is in the future.
    private func checkPace(of user: UserKey, _ person: Person, in book: Book, at time: Int64) throws(Refusal) {
        let interval = book.settings.slow * 1_000
        guard interval > 0, Self.rank(person.role) < Self.rank(.admin),
            let last = book.entries.last(where: { $0.n > 0 && $0.sender == user }), last.at <= time
        else { return }
        let wait = last.at + interval - time
        if wait > 0 { throw Refusal(.tooMany, retryAfter: wait) }
    }

    /// Adds copies of all messages or of none. A later change of an original does not change its
    /// copy.
    func forward(_ contents: Result<[MessageContent], ChatError>, to key: ConversationKey, by actor: UserKey, at time: Int64)
        throws(Refusal) -> Verdict
    {
        let (book, person) = try self.permit(.send, actor, key, at: time)
        guard case .success(let contents) = contents else { throw Refusal(.notFound) }
        try self.checkPace(of: actor, person, in: book, at: time)
        var first: Verdict?
        for content in contents {
            let hadReadAll = max(person.read, person.floor) == book.lastN
            let verdict = self.append(
                content.kind.code, to: book, by: actor, at: time, isMessage: true, text: Body.text(content.body), isCopy: true)
            book.entries.last?.origin = self.origin(of: content)
            book.entries.last?.preview = Body.title(content.body)
            if content.kind == .poll {
                book.entries.last?.poll = Poll(options: content.options, allowsMany: content.allowsManyVotes, closesAt: 0)
            }
            if hadReadAll { book.people[actor]?.read = book.lastN }
            first = first ?? verdict
        }
        return first ?? .unchanged
    }

    func mark(_ mark: MarkCommand, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, person) = try self.permit(.mark, actor, mark.conversation, at: time)
        let read = max(person.read, min(mark.read, book.lastN))
        book.people[actor]?.read = read
        book.people[actor]?.isMarkedUnread = false
        return .accepted(seq: book.lastSeq, n: read)
    }

    /// Returns the index of the message to which a change refers. Throws a refusal if the user
    /// cannot see it.
    func target(_ seq: Int64, of user: UserKey, in book: Book, allowsAll: Bool = false) throws(Refusal) -> Int {
        guard let index = book.index(of: seq), book.people[user]?.range(last: book.lastSeq)?.contains(seq) == true else {
            throw Refusal(.notFound)
        }
        let entry = book.entries[index]
        guard !entry.isHidden(from: user), allowsAll || (entry.n > 0 && !entry.state.isBlank) else { throw Refusal(.notFound) }
        return index
    }

    func edit(_ address: EventAddress, _ content: Result<MessageContent, ChatError>, by actor: UserKey, at time: Int64) throws(Refusal)
        -> Verdict
    {
        let (book, _) = try self.permit(.editOwn, actor, address.conversation, at: time)
        let index = try self.target(address.seq, of: actor, in: book)
        guard book.entries[index].sender == actor else { throw Refusal(.forbidden) }
        guard time - book.entries[index].at <= self.rules.editMilliseconds else { throw Refusal(.tooLate) }
        guard case .success(let content) = content, content.kind == book.entries[index].kind, content.kind == .text else {
            throw Refusal(.badRequest)
        }
        let text = Body.text(content.body)
        if book.entries[index].editSeq == 0 {
            book.entries[index].original = book.entries[index].text
            book.entries[index].originalPreview = book.entries[index].preview
            book.entries[index].firstOrigin = book.entries[index].origin
        }
        book.entries[index].text = text
        book.entries[index].preview = ""
        book.entries[index].origin = nil
        book.entries[index].state = .edited
        book.entries[index].editSeq = book.lastSeq + 1
        book.entries[index].changedBy = book.lastSeq + 1
        return self.append(.edit, to: book, by: actor, at: time, ref: address.seq, text: text)
    }

    func recall(_ address: EventAddress, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, person) = try self.permit(.recallOwn, actor, address.conversation, at: time)
        let index = try self.target(address.seq, of: actor, in: book)
        if !self.allows(.recallOthers, person, in: book) {
            guard book.entries[index].sender == actor else { throw Refusal(.forbidden) }
            guard time - book.entries[index].at <= self.rules.recallMilliseconds else { throw Refusal(.tooLate) }
        }
        // The recall would end the call for the other members of the group.
        if !book.isPlain, book.entries[index].call?.state == .accepted { throw Refusal(.conflict) }
        self.blank(address, .recalled)
        for entry in book.entries where entry.repeatsContent && entry.ref == address.seq { entry.changedBy = book.lastSeq + 1 }
        book.entries[index].changedBy = book.lastSeq + 1
        return self.append(.recall, to: book, by: actor, at: time, ref: address.seq)
    }

    /// Removes the content of a message and of its edits and previews.
    func blank(_ address: EventAddress, _ state: EventState) {
        guard let book = self.books[address.conversation], let index = book.index(of: address.seq), !book.entries[index].state.isBlank
        else { return }
        book.entries[index].blank(state)
        for entry in book.entries where entry.repeatsContent && entry.ref == address.seq { entry.blank(state) }
    }

    func react(_ address: EventAddress, _ key: String, _ isOn: Bool, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.react, actor, address.conversation, at: time)
        let index = try self.target(address.seq, of: actor, in: book)
        let all = book.entries[index].reactions
        guard all.contains(where: { $0.user == actor && $0.key == key }) != isOn else { return .unchanged }
        if isOn {
            guard all.filter({ $0.user == actor }).count < 3, Set(all.map(\.key)).union([key]).count <= 20 else { throw Refusal(.limit) }
            book.entries[index].reactions.append((actor, key))
        } else {
            book.entries[index].reactions.removeAll { $0.user == actor && $0.key == key }
        }
        book.entries[index].changedBy = book.lastSeq + 1
        return self.append(.react, to: book, by: actor, at: time, ref: address.seq)
    }

    func pin(_ address: EventAddress, _ isOn: Bool, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.pin, actor, address.conversation, at: time)
        let index = try self.target(address.seq, of: actor, in: book)
        guard book.entries[index].isPinned != isOn else { return .unchanged }
        book.entries[index].isPinned = isOn
        return self.append(.pin, to: book, by: actor, at: time, ref: address.seq)
    }

    func hide(_ seqs: [Int64], _ key: ConversationKey, by actor: UserKey, at time: Int64) throws(Refusal) -> Verdict {
        let (book, _) = try self.permit(.hide, actor, key, at: time)
        for seq in seqs { _ = try self.target(seq, of: actor, in: book, allowsAll: true) }
        for seq in seqs {
            if let index = book.index(of: seq), !book.entries[index].deletedBy.contains(actor) {
                book.entries[index].deletedBy.append(actor)
            }
        }
        return self.appendToOwn(.selfHide, of: actor, at: time)
    }
}
