package import ApusChatProtocol

// Events, unsent messages and read positions.
extension ClientCore {
    /// The log of a conversation.
    subscript(log conversation: ConversationID) -> LogCursor {
        get {
            if let log = self.logs[conversation] { return log }
            var log = LogCursor(settings: self.settings)
            log.isWanted = self.shown.contains(conversation)
            return log
        }
        set { self.logs[conversation] = newValue }
    }

    // MARK: Events

    /// A conversation is shown, or written to. Its log is followed from now on, beginning with its
    /// newest events. Repeated calls are permitted.
    package mutating func opened(_ conversation: ConversationID) -> [ClientAction] {
        guard self.shown.insert(conversation).inserted, self.logs[conversation] != nil else { return [] }
        self[log: conversation].isWanted = true
        return self.isOnline ? self.carryOut(self[log: conversation].resumed(), in: conversation) : []
    }

    package mutating func pushed(_ push: EventPush) -> [ClientAction] {
        guard self.isConnected else { return [] }
        let asOf = push.asOf ?? push.events.last?.seq
        return push.events.flatMap { self.received($0, asOf: asOf) }
    }

    private mutating func received(_ event: ChatEvent, asOf: Int64?) -> [ClientAction] {
        switch self[log: event.conversation].received(event, asOf: asOf) {
        case .apply(let events): return self.apply(events, in: event.conversation)
        case .wait(let delay): return [.startTimer(.hole(event.conversation), delay)]
        case .ignore, .hold: return []
        }
    }

    package mutating func answered(_ answer: HistoryAnswer, to request: HistoryRequest) -> [ClientAction] {
        guard self.logs[request.conversation] != nil, request.thread == nil, request.edits == nil else { return [] }
        let page = self[log: request.conversation].received(page: answer.events, head: answer.seq, for: request.range)
        var actions: [ClientAction] = []
        if let gap = page.gap { actions.append(.store(.gap(request.conversation, gap))) }
        actions += self.apply(page.events, in: request.conversation)
        return actions + self.carryOut(page.next, in: request.conversation)
    }

    package mutating func failed(_ request: HistoryRequest, with error: ChatError) -> [ClientAction] {
        guard self.logs[request.conversation] != nil else { return [] }
        return self.carryOut(self[log: request.conversation].pullFailed(), in: request.conversation)
    }

    mutating func carryOut(_ action: LogCursor.HeadAction, in conversation: ConversationID) -> [ClientAction] {
        guard let head = self.heads[conversation], self.follows(head) else {
            // The server does not serve the log: the user is invited or banned, or the conversation
            // is gone and a late event was of it. A head of it begins again.
            self.logs[conversation]?.disconnected()
            return []
        }
        return switch action {
        case .pull(let range, let limit): [.request(.history(HistoryRequest(conversation: conversation, range: range, limit: limit)))]
        case .wait(let delay): [.startTimer(.hole(conversation), delay)]
        case .doNothing: []
        }
    }

    /// Stores events that follow the log, and counts those that the head did not announce.
    private mutating func apply(_ positioned: [PositionedEvent], in conversation: ConversationID) -> [ClientAction] {
        guard !positioned.isEmpty else { return [] }
        var actions: [ClientAction] = StoreChange.events(positioned).map { .store($0) }
        let events = positioned.map(\.event)
        for event in events {
            // The acknowledgement of an own message may be lost: its event says the same.
            if event.sender == self.user, let id = event.id, let n = event.n {
                let answer = SendAnswer(conversation: conversation, id: id, seq: event.seq, n: n, at: event.at)
                actions += self.settle(id, .sent(id, answer))
            }
        }
        guard let before = self.heads[conversation] else { return actions }
        var head = before
        for event in events { actions += self.count(event, in: &head) }
        self.recount(&head)
        if head != before {
            self.heads[conversation] = head
            actions.append(.store(.head(head)))
        }
        return actions
    }

    private mutating func count(_ event: ChatEvent, in head: inout ChatHead) -> [ClientAction] {
        head.seq = max(head.seq, event.seq)
        guard let n = event.n else { return [] }
        head.n = max(head.n, n)
        head.at = max(head.at, event.at)
        if event.sender == self.user { return self.countOwn(n, in: &head) }
        if event.kind == .hidden { self.unread[head.conversation]?.skip(n) }
        return []
    }

    /// An own message never counts.
    mutating func countOwn(_ n: Int64, in head: inout ChatHead) -> [ClientAction] {
        self.unread[head.conversation]?.skip(n)
        // As on the server: a message moves its sender's position only if everything before it was
        // read. What the server has counted already has moved it there.
        guard head.read == n - 1, n > self.unread[head.conversation]?.n ?? .max else { return [] }
        head.read = n
        if self.reads.confirmed(in: head.conversation) == n - 1 {
            self.reads.confirmed(n, in: head.conversation)
            return []
        }
        return self.reads.read(n, in: head.conversation).map { [.request(.mark($0))] } ?? []
    }

    /// Derives the number of unread messages of a head.
    func recount(_ head: inout ChatHead) {
        guard let counter = self.unread[head.conversation] else { return }
        head.unread = counter.count(read: head.read, last: head.n)
        if head.unread == 0 { head.mentions = 0 }
    }

    // MARK: Outbox

    /// The user sent a message, which the shell has stored. Its sync to disk is the only one before
    /// the answer.
    package mutating func enqueued(_ id: ClientID, in conversation: ConversationID, isUploading: Bool = false) -> [ClientAction] {
        // The own message is to arrive by the log, too.
        self.opened(conversation) + self.send(self.outbox.enqueued(id, in: conversation, isUploading: isUploading))
    }

    /// The media of a message is complete.
    package mutating func uploaded(_ id: ClientID) -> [ClientAction] { self.send(self.outbox.uploaded(id)) }

    /// The user discarded an unsent message.
    package mutating func discarded(_ id: ClientID) -> [ClientAction] { self.send(self.outbox.settled(id)) }

    package mutating func answered(_ answer: SendAnswer) -> [ClientAction] { self.settle(answer.id, .sent(answer.id, answer)) }

    package mutating func failed(send id: ClientID, with error: ChatError) -> [ClientAction] {
        guard error.code.isTemporary else { return self.settle(id, .refused(id, error)) }
        let (action, next) = self.outbox.failedForNow(id)
        var actions = self.send(next)
        if case .rest(let conversation, let failures) = action {
            let delay = error.retryAfter.map { Duration.milliseconds($0) } ?? self.settings.retryDelay(afterAttempts: failures - 1)
            actions.append(.startTimer(.outbox(conversation), delay))
        }
        return actions
    }

    private mutating func settle(_ id: ClientID, _ change: StoreChange) -> [ClientAction] {
        let count = self.outbox.count
        let next = self.outbox.settled(id)
        guard self.outbox.count < count else { return self.send(next) }
        return [.store(change)] + self.send(next)
    }

    mutating func send(_ ids: [ClientID]) -> [ClientAction] {
        ids.compactMap { id in self.outbox.conversation(of: id).map { .request(.send(id, in: $0)) } }
    }

    // MARK: Read positions

    /// The user has read up to the message with ordinal `n`.
    package mutating func read(_ n: Int64, in conversation: ConversationID) -> [ClientAction] {
        guard var head = self.heads[conversation] else { return [] }
        let n = min(n, head.n)
        guard n > self.reads.position(in: conversation) else { return [] }
        let request = self.reads.read(n, in: conversation)
        self.move(&head, to: n)
        self.heads[conversation] = head
        let changes: [ClientAction] = [.store(.read(conversation, n: n, isConfirmed: false)), .store(.head(head))]
        return changes + (request.map { [.request(.mark($0))] } ?? [])
    }

    package mutating func answered(_ answer: MarkAnswer) -> [ClientAction] {
        // What the device has received is answered without numbers.
        guard let read = answer.read, let n = answer.n else { return [] }
        let next = self.reads.answered(answer)
        var actions: [ClientAction] = [.store(.read(answer.conversation, n: read, isConfirmed: true))]
        self.unread[answer.conversation]?.told(n: n, read: read, unread: answer.unread ?? 0)
        if var head = self.heads[answer.conversation], read >= self.reads.position(in: answer.conversation) {
            head.read = read
            if n >= head.n { head.mentions = answer.mentions ?? 0 }
            head.n = max(head.n, n)
            self.recount(&head)
            self.heads[answer.conversation] = head
            actions.append(.store(.head(head)))
        }
        if let next { actions.append(.request(.mark(next))) }
        return actions
    }

    package mutating func failed(_ request: MarkRequest, with error: ChatError) -> [ClientAction] {
        self.reads.failed(in: request.conversation, isTemporary: error.code.isTemporary)
        return []
    }

    package mutating func pushed(_ push: MarkPush) -> [ClientAction] {
        guard self.isConnected else { return [] }
        return push.marks.map { mark in
            guard mark.user == self.user, let read = mark.read else { return .store(.peerRead(mark)) }
            // Another device of the user.
            self.reads.confirmed(read, in: mark.conversation)
            if let n = mark.n, let unread = mark.unread {
                self.unread[mark.conversation]?.told(n: n, read: read, unread: unread)
            }
            if var head = self.heads[mark.conversation], read >= head.read {
                if let n = mark.n, n >= head.n, let mentions = mark.mentions { head.mentions = mentions }
                head.n = max(head.n, mark.n ?? 0)
                self.move(&head, to: read)
                self.heads[mark.conversation] = head
            }
            return .store(.read(mark.conversation, n: read, isConfirmed: true))
        }
    }

    /// Moves the position of a head forward.
    func move(_ head: inout ChatHead, to n: Int64) {
        head.read = max(head.read, n)
        self.recount(&head)
        head.own.isMarkedUnread = false
    }

    // MARK: Timers

    /// The delay of a `startTimer` has passed. Late and repeated calls are permitted.
    package mutating func timerFired(_ timer: ClientTimer) -> [ClientAction] {
        guard self.isConnected else { return [] }
        switch timer {
        case .hole(let conversation):
            guard self.logs[conversation] != nil else { return [] }
            return self.carryOut(self[log: conversation].holeTimerFired(), in: conversation)
        case .outbox(let conversation): return self.send(self.outbox.restEnded(in: conversation))
        case .sync: return [.request(self.nextSync())]
        case .hello: return self.repeatHello()
        }
    }
}
