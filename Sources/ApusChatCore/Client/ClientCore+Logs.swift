package import ApusChatWire

// Events, unsent messages and read positions.
extension ClientCore {
    /// The log of a conversation.
    subscript(log conversation: ConversationID) -> LogCursor {
        get { self.logs[conversation] ?? LogCursor(settings: self.settings) }
        set { self.logs[conversation] = newValue }
    }

    // MARK: Events

    package mutating func pushed(_ push: EventPush) -> [ClientAction] {
        guard self.isConnected else { return [] }
        return push.events.flatMap { self.received($0) }
    }

    private mutating func received(_ event: ChatEvent) -> [ClientAction] {
        switch self[log: event.conversation].received(event) {
        case .apply(let events): return self.apply(events, in: event.conversation)
        case .wait(let delay): return [.startTimer(.hole(event.conversation), delay)]
        case .ignore, .hold: return []
        }
    }

    package mutating func answered(_ answer: HistoryAnswer, to request: HistoryRequest) -> [ClientAction] {
        guard self.logs[request.conversation] != nil, request.thread == nil else { return [] }
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
        switch action {
        case .pull(let range, let limit): [.request(.history(HistoryRequest(conversation: conversation, range: range, limit: limit)))]
        case .wait(let delay): [.startTimer(.hole(conversation), delay)]
        case .doNothing: []
        }
    }

    /// Stores events that follow the log, and counts those that the head did not announce.
    private mutating func apply(_ events: [ChatEvent], in conversation: ConversationID) -> [ClientAction] {
        guard !events.isEmpty else { return [] }
        var actions: [ClientAction] = [.store(.events(events))]
        for event in events {
            // The acknowledgement of an own message may be lost: its event says the same.
            if event.sender == self.user, let id = event.id, let n = event.n {
                let answer = SendAnswer(conversation: conversation, id: id, seq: event.seq, n: n, at: event.at)
                actions += self.settle(id, .sent(id, answer))
            }
        }
        guard var head = self.heads[conversation] else { return actions }
        for event in events where event.seq > head.seq { self.count(event, in: &head) }
        if head != self.heads[conversation] {
            self.heads[conversation] = head
            actions.append(.store(.head(head)))
        }
        return actions
    }

    private mutating func count(_ event: ChatEvent, in head: inout ChatHead) {
        head.seq = event.seq
        guard let n = event.n, n > head.n else { return }
        let isOwn = event.sender == self.user
        // As on the server: a message moves its sender's position only if everything before it was
        // read.
        if isOwn, head.read == head.n {
            head.read = n
            self.reads.confirmed(n, in: head.conversation)
        } else if !isOwn, event.kind != .hidden {
            head.unread += 1
        }
        head.n = n
        head.at = max(head.at, event.at)
    }

    // MARK: Outbox

    /// The user sent a message, which the shell has stored. Its sync to disk is the only one before
    /// the answer.
    package mutating func enqueued(_ id: ClientID, in conversation: ConversationID, isUploading: Bool = false) -> [ClientAction] {
        self.send(self.outbox.enqueued(id, in: conversation, isUploading: isUploading))
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
        Self.apply(read: n, to: &head)
        self.heads[conversation] = head
        let changes: [ClientAction] = [.store(.read(conversation, n: n, isConfirmed: false)), .store(.head(head))]
        return changes + (request.map { [.request(.mark($0))] } ?? [])
    }

    package mutating func answered(_ answer: MarkAnswer) -> [ClientAction] {
        let next = self.reads.answered(answer)
        var actions: [ClientAction] = [.store(.read(answer.conversation, n: answer.read, isConfirmed: true))]
        if var head = self.heads[answer.conversation], answer.read >= self.reads.position(in: answer.conversation) {
            head.read = answer.read
            head.unread = answer.unread
            head.mentions = answer.mentions
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
            if var head = self.heads[mark.conversation], read > head.read {
                Self.apply(read: read, to: &head)
                self.heads[mark.conversation] = head
            }
            return .store(.read(mark.conversation, n: read, isConfirmed: true))
        }
    }

    /// Moves the position of a head. Between two messages the number of unread ones is an upper
    /// bound until the server tells it: some may be own or hidden.
    static func apply(read n: Int64, to head: inout ChatHead) {
        head.read = max(head.read, n)
        head.unread = min(head.unread, max(0, head.n - head.read))
        if head.unread == 0 { head.mentions = 0 }
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
        case .sync: return [.request(.sync(SyncRequest(since: self.token)))]
        }
    }
}
