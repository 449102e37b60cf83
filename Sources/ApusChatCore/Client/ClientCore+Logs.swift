package import ApusChatProtocol

// Events, unsent messages and read positions.
extension ClientCore {
    /// The cursor of the log of a conversation.
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

    /// Handles a conversation that is opened, or to which the user writes. From now on the client
    /// follows its log, beginning with the newest events. Repeated calls are permitted.
    package mutating func opened(_ conversation: ConversationID) -> [ClientAction] {
        guard self.shown.insert(conversation).inserted, self.logs[conversation] != nil else { return [] }
        self[log: conversation].isWanted = true
        return self.isOnline ? self.carryOut(self[log: conversation].resumed(), in: conversation) : []
    }

    package mutating func pushed(_ push: EventPush) -> [ClientAction] {
        guard self.isConnected else { return [] }
        let asOf = push.asOf ?? push.events.last?.seq
        return push.events.flatMap { self.receivedEvent($0, asOf: asOf) }
    }

    private mutating func receivedEvent(_ event: ChatEvent, asOf: Int64?) -> [ClientAction] {
        self.named(event.conversation)
        switch self[log: event.conversation].receivedEvent(event, asOf: asOf) {
        case .apply(let events): return self.apply(events, in: event.conversation)
        case .wait(let delay): return [.startTimer(.hole(event.conversation), delay)]
        case .ignore, .hold: return []
        }
    }

    package mutating func answered(_ answer: HistoryAnswer, to request: HistoryRequest) -> [ClientAction] {
        guard self.logs[request.conversation] != nil, request.thread == nil, request.edits == nil else { return [] }
        let page = self[log: request.conversation].receivedPage(answer.events, head: answer.seq, for: request.range)
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
            // was deleted before a late event arrived. A later head of the conversation starts the
            // log again.
            self.logs[conversation]?.disconnected()
            return []
        }
        return switch action {
        case .pull(let range, let limit): [.request(.history(HistoryRequest(conversation: conversation, range: range, limit: limit)))]
        case .wait(let delay): [.startTimer(.hole(conversation), delay)]
        case .doNothing: []
        }
    }

    /// Stores events that follow the cursor, and counts the unread messages that the head does not
    /// include.
    private mutating func apply(_ positioned: [PositionedEvent], in conversation: ConversationID) -> [ClientAction] {
        guard !positioned.isEmpty else { return [] }
        var actions: [ClientAction] = StoreChange.events(positioned).map { .store($0) }
        let events = positioned.map(\.event)
        for event in events {
            // If the acknowledgement of the user's message was lost, its event replaces it.
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
        if event.seq > head.seq { head.apply(event) }
        head.seq = max(head.seq, event.seq)
        if event.movesUp(in: head.kind) {
            head.at = max(head.at, event.at)
            if event.seq > head.last?.seq ?? 0 { head.last = ChatKinds.preview(of: event) }
        }
        guard let n = event.n else { return [] }
        head.n = max(head.n, n)
        if event.sender == self.user { return self.countOwn(n, in: &head) }
        if event.kind == .hidden { self.unread[head.conversation]?.skip(n) }
        return []
    }

    /// Records that a message of the user is not counted as unread.
    mutating func countOwn(_ n: Int64, in head: inout ChatHead) -> [ClientAction] {
        self.unread[head.conversation]?.skip(n)
        // As on the server, a message moves the read position of its sender only if all messages
        // before it were read. The server has already moved the position over messages that it
        // counted.
        guard head.read == n - 1, n > self.unread[head.conversation]?.n ?? .max else { return [] }
        head.read = n
        if self.reads.confirmed(in: head.conversation) == n - 1 {
            self.reads.confirmed(n, in: head.conversation)
            return []
        }
        guard n > self.reads.position(in: head.conversation) else { return [] }
        let request = self.reads.read(n, in: head.conversation)
        // The position is stored, because after a restart the position of the head counts as
        // confirmed.
        return [.store(.read(head.conversation, n: n, isConfirmed: false))] + (request.map { [.request(.mark($0))] } ?? [])
    }

    /// Computes the number of unread messages of a head.
    func recount(_ head: inout ChatHead) {
        guard let counter = self.unread[head.conversation] else { return }
        head.unread = counter.count(read: head.read, last: head.n)
        if head.unread == 0 { head.mentions = 0 }
    }

    // MARK: Outbox

    /// Handles a message that the user sent. The shell calls this method after it has stored the
    /// message and synced it to disk.
    package mutating func enqueued(_ id: ClientID, in conversation: ConversationID, isUploading: Bool = false) -> [ClientAction] {
        // The log must be followed, so that the event of the message arrives.
        self.opened(conversation) + self.send(self.outbox.enqueued(id, in: conversation, isUploading: isUploading))
    }

    /// Handles the completion of the upload of a message's file.
    package mutating func uploaded(_ id: ClientID) -> [ClientAction] { self.send(self.outbox.uploaded(id)) }

    /// Handles a message whose file must be uploaded again, because the server has lost it.
    package mutating func uploadsAgain(_ id: ClientID) -> [ClientAction] { self.send(self.outbox.uploadsAgain(id)) }

    /// Handles an unsent message that the user discarded.
    package mutating func discarded(_ id: ClientID) -> [ClientAction] { self.send(self.outbox.settled(id)) }

    package mutating func answered(_ answer: SendAnswer) -> [ClientAction] {
        let isUnsent = self.outbox.conversation(of: answer.id) != nil
        let next = self.send(self.outbox.acknowledged(answer.id))
        return isUnsent ? [.store(.sent(answer.id, answer))] + next : next
    }

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

    /// Records that the user has read all messages up to ordinal `n`.
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
        // The answer to a `mark` that contains only `received` has no numbers.
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
            // Another device of the user moved the position.
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

    /// Moves the read position of a head forward.
    func move(_ head: inout ChatHead, to n: Int64) {
        head.read = max(head.read, n)
        self.recount(&head)
        head.own.isMarkedUnread = false
    }

    // MARK: Timers

    /// Handles the end of the delay of a `startTimer` action. Late and repeated calls are
    /// permitted.
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
