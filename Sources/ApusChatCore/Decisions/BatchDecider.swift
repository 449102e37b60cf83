import ApusChatProtocol
package import ApusChatStorage

/// Decides the commands of one batch, in order, based on the facts that the storage returned.
///
/// A decision performs all checks before it changes the facts in place. Therefore, a refused
/// command has no effect, and each decision includes the effects of the previous commands.
package struct BatchDecider: Sendable {
    package internal(set) var facts: Facts
    /// The time stamp of the events of this batch, in milliseconds since 1970.
    let time: Int64
    let rules: ChatRules

    var events: [EventRow] = []
    var blanks: [EventBlank] = []
    var folderRemovals: [FolderRemoval] = []
    var reports: [ReportRow] = []
    var unscheduled: [ScheduledAddress] = []
    var deleted: [ConversationKey] = []
    var calls: [CallChange] = []
    var blobReferences: [BlobReference] = []
    var pushes: [Push] = []
    /// The conversations whose row must be written completely, not only its counters.
    var wholeRows: Set<ConversationKey> = []
    var newRows: Set<ConversationKey> = []
    /// The conversations with new events, and the `seq` of the first new event of each.
    var touched: [(conversation: ConversationKey, first: Int64)] = []
    /// The events that this batch hid from single members.
    var hidden: [HiddenMessage] = []
    /// The messages whose sender requested that they cause no notification.
    var silent: Set<EventAddress> = []
    /// The conversations with a change whose target is invisible to more members than can be
    /// notified individually.
    var nudged: Set<ConversationKey> = []

    /// The users whose number of unread mentions changed; `UserKey(0)` stands for all members.
    var mentioned: [ConversationKey: Set<UserKey>] = [:]

    struct HiddenMessage {
        let address: AnnotationAddress
        /// The ordinal; 0 for a change, and for a message that does not count as unread.
        let n: Int64
    }

    package init(facts: consuming Facts, at time: Int64, rules: ChatRules = ChatRules()) {
        self.facts = facts
        self.time = time
        self.rules = rules
    }

    /// Decides one command.
    package mutating func decide(_ command: Command) -> Decision {
        do throws(ChatError) {
            // A request that was sent before the deletion must not add a message after the erasure.
            if command.request != nil, self.facts.deletedAccounts.contains(command.actor) { throw Self.accountDeleted }
            switch command.action {
            case .send(let send): return try self.send(send, by: command)
            case .mark(let mark): return .accepted(try self.mark(mark, by: command.actor))
            case .sendScheduled(let address, let send): return try self.sendScheduled(address, send, by: command)
            default: return try self.decideOnce(command)
            }
        } catch {
            return .refused(error)
        }
    }

    private static let accountDeleted = ChatError(.unauthorized, message: "The account is deleted.")

    /// Decides a request other than `send` and `mark`, and stores its answer for retries.
    private mutating func decideOnce(_ command: Command) throws(ChatError) -> Decision {
        guard let request = command.request else { return .accepted(try self.perform(command)) }
        let address = RequestAddress(command.actor, request.id)
        if let earlier = self.facts.requests[address], earlier.at > self.time - self.rules.answerMilliseconds {
            guard earlier.hash == request.hash else { throw .reusedID }
            return .repeated(earlier.answer)
        }
        let answer = try self.perform(command)
        self.facts.requests.set(address, RequestRow(address: address, hash: request.hash, answer: answer, at: self.time))
        return .accepted(answer)
    }

    private mutating func perform(_ command: Command) throws(ChatError) -> StoredAnswer {
        let actor = command.actor
        switch command.action {
        case .send, .mark, .sendScheduled:
            throw ChatError(.internal, message: "The server failed to look up the stored answer of the request.")
        case .forward(let conversation, let contents, let isSilent):
            return try self.forward(contents, to: conversation, isSilent: isSilent, by: actor)
        case .edit(let target, let content): return try self.edit(target, content, by: actor)
        case .setPreview(let preview): return self.setPreview(preview)
        case .removePreview(let target): return try self.removePreview(target, by: actor)
        case .recall(let target): return try self.recall(target, by: actor)
        case .hide(let conversation, let seqs): return try self.hide(seqs, in: conversation, by: actor)
        case .react(let target, let key, let isOn): return try self.react(target, key, isOn, by: actor)
        case .vote(let target, let options): return try self.vote(target, options, by: actor)
        case .closePoll(let target): return try self.closePoll(target, by: actor)
        case .pin(let target, let isOn): return try self.pin(target, isOn, by: actor)
        case .startCall(let conversation, let media, let offer): return try self.startCall(in: conversation, media, offer, by: command)
        case .updateCall(let call, let state): return try self.updateCall(call, state, by: command)
        case .openPair(let peer, let new): return try self.openPair(with: peer, new: new, by: actor)
        case .create(let create): return try self.create(create, by: actor)
        case .set(let conversation, let update): return try self.set(conversation, update, by: actor)
        case .delete(let conversation): return try self.delete(conversation, by: actor)
        case .schedule(let schedule): return try self.schedule(schedule, by: command)
        case .unschedule(let id): return try self.unschedule(id, by: actor)
        case .invite(let conversation, let users): return try self.invite(users, to: conversation, by: actor)
        case .join(let conversation): return try self.join(conversation, by: actor)
        case .joinByLink(let code): return try self.join(byLink: code, by: actor)
        case .answerInvitation(let conversation, let accepts):
            return try self.answerInvitation(to: conversation, accepts: accepts, by: actor)
        case .answerRequest(let conversation, let user, let approves):
            return try self.answerRequest(of: user, to: conversation, approves: approves, by: actor)
        case .leave(let conversation, let forgets): return try self.leave(conversation, forgets: forgets, by: actor)
        case .remove(let conversation, let users): return try self.remove(users, from: conversation, by: actor)
        case .ban(let conversation, let users, let isOn, let until):
            return try self.ban(users, isOn, until: until, in: conversation, by: actor)
        case .silence(let conversation, let users, let until): return try self.silence(users, until: until, in: conversation, by: actor)
        case .setRole(let conversation, let users, let role): return try self.setRole(role, of: users, in: conversation, by: actor)
        case .transfer(let conversation, let user): return try self.transfer(conversation, to: user, by: actor)
        case .createLink(let conversation, let terms): return try self.createLink(terms, for: conversation, by: actor)
        case .revokeLink(let code): return try self.revokeLink(code, by: actor)
        case .personalize(let conversation, let change): return try self.personalize(conversation, change, by: actor)
        case .personalizeAll(let conversation, let changes): return try self.personalize(conversation, changes, by: actor)
        case .updateProfile(let update): return try self.updateProfile(update, by: actor)
        case .contact(let peer, let change): return try self.contact(peer, change, by: actor)
        case .report(let user, let events, let conversation, let reason, let text):
            if !events.isEmpty { return try self.report(events, reason: reason, text: text, by: actor) }
            if let conversation { return try self.report(conversation, reason: reason, text: text, by: actor) }
            return try self.report(user, reason: reason, text: text, by: actor)
        case .noteDevice(let change): return try self.noteDevice(change, of: actor)
        case .blank(let targets, let state): return self.blank(targets, state)
        case .dismiss(let conversation, let users): return self.dismiss(users, from: conversation)
        case .finishErasure(let user): return self.finishErasure(of: user)
        }
    }

    /// Ends the batch and returns its changes, answers and pushes.
    package consuming func finish() -> DecidedBatch {
        var changes = Changes()
        changes.targets = self.facts.events.changed
        changes.folderRemovals = self.folderRemovals
        changes.members = self.facts.members.changed
        changes.annotations = self.facts.annotations.changed
        changes.requests = self.facts.requests.changed
        changes.accounts = self.facts.accounts.changed
        changes.contacts = self.facts.contacts.changed
        changes.links = self.facts.links.changed
        let wholeRows = self.wholeRows
        let newRows = self.newRows
        changes.conversations = self.facts.conversations.changed.map { row in
            let isNew = newRows.contains(row.key)
            return ConversationChange(
                key: row.key, counters: row.counters, row: isNew || wholeRows.contains(row.key) ? row : nil, isNew: isNew)
        }
        var pushes: [Push] = []
        pushes.reserveCapacity(self.touched.count + self.pushes.count)
        for (conversation, first) in self.touched {
            let last = self.facts.conversations[conversation]?.counters.lastSeq ?? first
            pushes.append(.events(conversation, first: first, last: last))
        }
        pushes += self.pushes
        changes.events = self.events
        changes.blanks = self.blanks
        changes.reports = self.reports
        changes.scheduled = self.facts.scheduled.changed
        changes.unscheduled = self.unscheduled
        changes.blobReferences = self.blobReferences
        return DecidedBatch(
            changes: changes, pushes: pushes, hidden: self.hidden.map(\.address), silent: self.silent, nudged: self.nudged,
            deleted: self.deleted, calls: self.calls, mentioned: self.mentioned)
    }
}

extension BatchDecider {
    /// Returns the `seq` of the newest event; 0 if the conversation has no event.
    func lastSeq(of conversation: ConversationKey) -> Int64 {
        self.facts.conversations[conversation]?.counters.lastSeq ?? 0
    }

    /// Appends an event to the log of an existing conversation, and returns its position.
    ///
    /// - Parameters:
    ///   - isMessage: Whether the event is a message, which has an ordinal.
    ///   - movesUp: Whether a change moves the conversation up in lists, as a message does.
    @discardableResult
    mutating func append(
        _ kind: EventKind, to conversation: ConversationKey, by sender: UserKey, request: RequestIdentity? = nil, isMessage: Bool = false,
        movesUp: Bool = false, ref: Int64 = 0, body: String = "", configure: (inout EventRow) -> Void = { _ in }
    ) -> StoredAnswer {
        let time = self.time
        var counters = ConversationCounters()
        var pair: PairAddress?
        var expiry: Int64 = 0
        self.facts.conversations.modify(conversation) { row in
            row.counters.lastSeq += 1
            if isMessage { row.counters.lastN += 1 }
            if isMessage || movesUp {
                row.counters.lastAt = time
                row.counters.previewSeq = row.counters.lastSeq
            }
            counters = row.counters
            pair = row.pair
            expiry = row.settings.expire
        }
        var event = EventRow(
            conversation: conversation, seq: counters.lastSeq, n: isMessage ? counters.lastN : 0, sender: sender,
            clientID: isMessage ? request?.id : nil, hash: isMessage ? request?.hash : nil, at: time, kind: kind, ref: ref, body: body,
            expiresAt: isMessage && expiry > 0 ? time + expiry * 1_000 : 0)
        configure(&event)
        self.noteMentions(of: event)
        self.events.append(event)
        self.noteTouch(conversation, seq: counters.lastSeq)
        let answer = StoredAnswer(conversation: conversation, seq: event.seq, n: event.n, at: time)
        if !isMessage, ref > 0 { self.conceal(event.address, withTarget: EventAddress(conversation, ref)) }
        if let pair { self.deliver(answer, kind, toPeerOf: sender, in: pair) }
        return answer
    }

    /// Returns the answer to a request that changed nothing.
    func unchanged(_ conversation: ConversationKey) -> StoredAnswer {
        StoredAnswer(conversation: conversation, seq: 0, n: 0, at: self.time)
    }

    /// Returns the member row of a user. Throws an error if the user may not perform the action.
    func authorize(_ action: ChatAction, _ user: UserKey, in conversation: ConversationKey) throws(ChatError) -> MemberRow {
        let member = self.facts.members[MemberAddress(conversation, user)]
        try Permissions.check(action, of: member, in: self.facts.conversations[conversation], at: self.time)
        guard let member else { throw .noConversation }
        return member
    }

    /// Changes the number of members, and increments the version of the member list.
    mutating func changeMembers(of conversation: ConversationKey, by difference: Int) {
        self.facts.conversations.modify(conversation) { row in
            row.counters.memberCount += difference
            row.counters.membersVersion += 1
            if difference != 0 { row.counters.epoch += 1 }
        }
    }

    /// Records the users whose number of unread mentions changes because a message was added or
    /// lost its content.
    mutating func noteMentions(of event: EventRow) {
        if event.mentionsAll { self.mentioned[event.conversation, default: []].insert(UserKey(0)) }
        if !event.mentions.isEmpty { self.mentioned[event.conversation, default: []].formUnion(event.mentions) }
    }

    private mutating func noteTouch(_ conversation: ConversationKey, seq: Int64) {
        // The events of one conversation are usually consecutive, because the sequencer groups the
        // commands.
        if let last = self.touched.last, last.conversation == conversation { return }
        if self.events.count > 1, self.touched.contains(where: { $0.conversation == conversation }) { return }
        self.touched.append((conversation, seq))
    }
}

extension ChatError {
    static let noConversation = ChatError(.notFound, message: "The conversation does not exist.")
    static let noMessage = ChatError(.notFound, message: "The message does not exist.")
    static let reusedID = ChatError(.conflict, message: "Another request has this id. Use a new id for a new request.", field: "id")
}
