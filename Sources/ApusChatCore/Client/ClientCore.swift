package import ApusChatProtocol

/// The state of a chat client: heads, logs, outbox and read positions. It performs no input or
/// output. Its methods handle answers, pushes and timers, and return actions.
///
/// A connection begins with `hello`, which also synchronizes the heads. Pushes may arrive before
/// the answer to `hello`, late, twice or not at all. A head can therefore be ahead of its log, and
/// a log never skips an event without an action that reports the gap. The core keeps heads and
/// positions in memory; the store of the shell contains the events and the unsent messages.
package struct ClientCore: Sendable {
    /// The signed-in user.
    package let user: UserName
    package internal(set) var heads: [ConversationID: ChatHead] = [:]
    var logs: [ConversationID: LogCursor] = [:]
    /// The conversations that were opened since the program started.
    var shown: Set<ConversationID> = []
    var outbox: ClientOutbox
    var reads = ReadPositions()
    /// The conversations whose unconfirmed read position was removed from the store with the head.
    private var unstoredReads: Set<ConversationID> = []
    var unread: [ConversationID: UnreadCounter] = [:]
    let settings: FollowSettings

    enum State {
        case offline
        /// `hello` or a page of the first sync is pending. Transitions to `online` (last page) or
        /// `offline` (disconnected).
        case opening
        case online
        /// Final: the session has ended.
        case ended
    }
    var state: State = .offline
    /// The epoch of the data in the store; nil before the first connection.
    package private(set) var epoch: PageToken?
    var token: PageToken?
    /// During a sync without a token, the conversations that its pages contain; nil at other times.
    /// After the last page, other conversations are removed, except doubtful ones. The server
    /// reports removed conversations only to clients with a token.
    private var listed: Set<ConversationID>?
    /// The conversations that pushes contained during a sync without a token, and that its pages do
    /// not contain. The next sync determines whether each is newer than this sync or was removed
    /// before it.
    private var doubtful: Set<ConversationID> = []
    /// Whether the current sync has no token and more than one page.
    private var hasPages = false
    private var syncFailures = 0
    private var helloFailures = 0
    /// Whether `hello` failed temporarily and will be repeated after a delay.
    private var isHelloDelayed = false

    package init(user: UserName, settings: FollowSettings = FollowSettings(), maximumInFlight: Int = 8) {
        self.user = user
        self.settings = settings
        self.outbox = ClientOutbox(maximumInFlight: maximumInFlight)
    }

    package var isOnline: Bool { if case .online = self.state { true } else { false } }
    /// The number of unsent messages without a final answer.
    package var unsentCount: Int { self.outbox.count }
    /// Returns the `seq` of the last applied event of a conversation.
    package func cursor(of conversation: ConversationID) -> Int64 { self.logs[conversation]?.cursor ?? 0 }
    /// Returns the user's read position in a conversation.
    package func readPosition(in conversation: ConversationID) -> Int64 { self.reads.position(in: conversation) }

    // MARK: Start

    /// The stored state with which the core starts.
    package struct Restored: Sendable {
        package var heads: [ChatHead] = []
        /// The `seq` of the last applied event of each conversation with stored events.
        package var cursors: [ConversationID: Int64] = [:]
        /// The unsent and acknowledged messages that the stored log does not contain, oldest first,
        /// except refused ones.
        package var unsent: [(id: ClientID, conversation: ConversationID, isUploading: Bool)] = []
        /// The unsent messages whose file is uploaded.
        package var uploaded: Set<ClientID> = []
        /// The messages among them that the server has acknowledged.
        package var acknowledged: Set<ClientID> = []
        /// The read positions that the server has not confirmed.
        package var reads: [ConversationID: Int64] = [:]
        package var epoch: PageToken?
        package var token: PageToken?
        package init() {}
    }

    /// Restores the stored state. Call it once, before the first connection.
    package mutating func restore(_ restored: Restored) {
        self.epoch = restored.epoch
        self.token = restored.token
        for head in restored.heads {
            self.heads[head.conversation] = head
            self.unread[head.conversation] = UnreadCounter(n: head.n, read: head.read, unread: head.unread)
            // The stored head has the position that the user reached, even if the server has not
            // confirmed it.
            let unconfirmed = restored.reads[head.conversation]
            self.reads.restored(
                head.conversation, read: unconfirmed ?? 0, confirmed: min(head.read, unconfirmed.map { $0 - 1 } ?? head.read))
            let cursor = restored.cursors[head.conversation]
            self.logs[head.conversation] = LogCursor(
                cursor: cursor ?? 0, head: head.seq, isPrimed: cursor != nil, settings: self.settings)
        }
        // An event can be pushed and stored before the head of its conversation.
        for (conversation, cursor) in restored.cursors where self.logs[conversation] == nil {
            self.logs[conversation] = LogCursor(cursor: cursor, head: cursor, isPrimed: true, settings: self.settings)
        }
        for conversation in Set(restored.unsent.map(\.conversation)) { _ = self.opened(conversation) }
        for message in restored.unsent {
            guard !restored.acknowledged.contains(message.id) else {
                self.outbox.restored(acknowledged: message.id, in: message.conversation)
                continue
            }
            let isUploaded = restored.uploaded.contains(message.id)
            _ = self.outbox.enqueued(message.id, in: message.conversation, isUploading: message.isUploading || isUploaded)
            if isUploaded { _ = self.outbox.uploaded(message.id) }
        }
    }

    // MARK: Connection

    /// Handles a new connection of the transport.
    package mutating func connected() -> [ClientAction] {
        guard case .offline = self.state else { return [] }
        self.state = .opening
        self.isHelloDelayed = false
        return [.request(self.nextHello())]
    }

    /// Handles the loss of the connection. Pending requests are not answered, and all timers end.
    package mutating func disconnected() {
        if case .ended = self.state { return }
        self.state = .offline
        self.outbox.disconnected()
        self.reads.disconnected()
        for conversation in self.logs.keys { self.logs[conversation]?.disconnected() }
    }

    package mutating func answered(hello answer: HelloAnswer) -> [ClientAction] {
        guard case .opening = self.state else { return [] }
        self.helloFailures = 0
        self.isHelloDelayed = false
        var actions: [ClientAction] = []
        if self.epoch != answer.epoch {
            if self.epoch != nil {
                self.outbox.requeue()
                actions.append(.store(.requeue))
            }
            // The read positions count the messages of other logs.
            actions += self.dropCache(keepsReads: false)
            self.epoch = answer.epoch
            actions.append(.store(.epoch(answer.epoch)))
        }
        guard let sync = answer.sync else { return actions + [.request(self.nextSync())] }
        return actions + self.answered(sync: sync)
    }

    /// Handles a `hello` that was refused or not answered.
    package mutating func failed(hello error: ChatError) -> [ClientAction] {
        guard case .opening = self.state else { return [] }
        if error.code.isTemporary {
            let delay = error.retryAfter.map { Duration.milliseconds($0) } ?? self.settings.retryDelay(afterAttempts: self.helloFailures)
            self.helloFailures += 1
            self.isHelloDelayed = true
            return [.startTimer(.hello, delay)]
        }
        if error.code == .resync {
            self.token = nil
            return [.request(self.nextHello())]
        }
        self.state = .ended
        return [.endSession(error)]
    }

    /// Handles the end of the delay after a failed `hello`.
    mutating func repeatHello() -> [ClientAction] {
        guard case .opening = self.state, self.isHelloDelayed else { return [] }
        return [.request(self.nextHello())]
    }

    private mutating func nextHello() -> ClientRequest {
        self.beginSync()
        return .hello(since: self.token, epoch: self.epoch)
    }

    // MARK: Sync

    /// Returns the request for the first page of a sync.
    mutating func nextSync() -> ClientRequest {
        self.beginSync()
        return .sync(SyncRequest(since: self.token))
    }

    private mutating func beginSync() {
        self.listed = self.token == nil ? [] : nil
        if self.token == nil { self.doubtful = [] }
        self.hasPages = false
    }

    /// Records a conversation that a push contains.
    mutating func named(_ conversation: ConversationID) {
        if self.listed?.contains(conversation) == false {
            self.doubtful.insert(conversation)
        } else {
            self.doubtful.remove(conversation)
        }
    }

    package mutating func answered(sync answer: SyncAnswer) -> [ClientAction] {
        guard self.isConnected else { return [] }
        self.syncFailures = 0
        var actions: [ClientAction] = []
        for head in answer.heads { actions += self.synchronized(head) }
        for conversation in answer.gone { actions += self.gone(conversation) }
        if let page = answer.page {
            self.hasPages = self.listed != nil
            return actions + [.request(.sync(SyncRequest(since: self.token, page: page)))]
        }
        let removed: [ConversationID]
        if let listed = self.listed {
            self.listed = nil
            self.doubtful.subtract(listed)
            removed = self.heads.keys.filter { !listed.contains($0) && !self.doubtful.contains($0) }
        } else {
            removed = Array(self.doubtful)
            self.doubtful = []
        }
        for conversation in removed.sorted(by: { $0.rawValue < $1.rawValue }) { actions += self.gone(conversation) }
        // The token is stored with the last page only, so that an interrupted sync is repeated from
        // its beginning.
        self.token = answer.token
        if self.doubtful.isEmpty { actions.append(.store(.token(answer.token))) }
        if case .opening = self.state { actions += self.opened() }
        // A conversation that moves up in the list between two pages is on neither of them. Such a
        // conversation changed after the token was taken, so the next sync contains it.
        guard self.hasPages || !self.doubtful.isEmpty else { return actions }
        return actions + [.request(self.nextSync())]
    }

    package mutating func failed(sync error: ChatError) -> [ClientAction] {
        guard self.isConnected else { return [] }
        if error.code == .resync {
            self.token = nil
            return self.dropCache(keepsReads: true) + [.request(self.nextSync())]
        }
        let delay = self.settings.retryDelay(afterAttempts: self.syncFailures)
        self.syncFailures += 1
        return [.startTimer(.sync, delay)]
    }

    var isConnected: Bool {
        switch self.state {
        case .opening, .online: true
        case .offline, .ended: false
        }
    }

    private mutating func opened() -> [ClientAction] {
        self.state = .online
        var actions: [ClientAction] = self.reads.connected().map { .request(.mark($0)) }
        for conversation in self.logs.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            if let action = self.logs[conversation]?.resumed() { actions += self.carryOut(action, in: conversation) }
        }
        return actions + self.send(self.outbox.connected())
    }

    /// - Parameter keepsReads: Whether the read positions that the server has not confirmed remain
    ///   valid.
    private mutating func dropCache(keepsReads: Bool) -> [ClientAction] {
        self.heads = [:]
        self.logs = [:]
        self.unread = [:]
        self.unstoredReads = self.reads.dropped(keepsUnconfirmed: keepsReads)
        self.doubtful = []
        self.token = nil
        return [.store(.dropCache)]
    }

    // MARK: Heads

    private mutating func synchronized(_ head: ChatHead) -> [ClientAction] {
        var actions = self.replace(head, isSync: true)
        if self.follows(head) {
            if head.mentions > 0 { self[log: head.conversation].isWanted = true }
            if self.isOnline {
                let action = self[log: head.conversation].synchronized(head: head.seq, floor: head.minSeq)
                actions += self.carryOut(action, in: head.conversation)
            } else {
                self[log: head.conversation].announced(head: head.seq, floor: head.minSeq)
            }
        }
        return actions
    }

    package mutating func pushed(_ push: HeadPush) -> [ClientAction] {
        guard self.isConnected else { return [] }
        var actions: [ClientAction] = []
        for head in push.heads {
            actions += self.replace(head)
            guard self.follows(head) else { continue }
            actions += self.advance(head.conversation, to: head.seq, floor: head.minSeq)
        }
        for nudge in push.nudges {
            self.named(nudge.conversation)
            guard var head = self.heads[nudge.conversation], nudge.seq > head.seq else { continue }
            head.seq = nudge.seq
            head.at = max(head.at, nudge.at)
            head.n = max(head.n, nudge.n)
            // In a large conversation, the server does not push the event of the user's message
            // from another device. Its nudge shows that the user sent it.
            if let last = nudge.last, last.sender == self.user, let n = last.n { actions += self.countOwn(n, in: &head) }
            self.recount(&head)
            head.mentions = nudge.mentions ?? head.mentions
            head.last = nudge.last ?? head.last
            self.heads[nudge.conversation] = head
            actions.append(.store(.head(head)))
            actions += self.advance(nudge.conversation, to: nudge.seq, floor: head.minSeq)
        }
        for conversation in push.gone { actions += self.gone(conversation) }
        return actions
    }

    /// Handles a head of the server. The head may be older than events that arrived before it; the
    /// positions of the log never decrease.
    ///
    /// - Parameter isSync: Whether the head is part of a sync. If so, its number of unread messages
    ///   replaces the known number, even if it is lower.
    mutating func replace(_ new: ChatHead, isSync: Bool = false) -> [ClientAction] {
        var head = new
        if isSync {
            self.listed?.insert(new.conversation)
            self.doubtful.remove(new.conversation)
        } else {
            self.named(new.conversation)
        }
        var counter = self.unread[new.conversation] ?? UnreadCounter(n: new.n, read: new.read, unread: new.unread)
        if isSync {
            counter.reset(n: new.n, read: new.read, unread: new.unread)
        } else {
            counter.told(n: new.n, read: new.read, unread: new.unread)
        }
        self.unread[new.conversation] = counter
        if self.isFormer(new) {
            self.logs[new.conversation]?.ended(at: new.seq)
        } else if let known = self.heads[new.conversation], known.seq > new.seq {
            head.seq = known.seq
            head.n = max(known.n, new.n)
            head.at = max(known.at, new.at)
            head.last = known.last
        }
        self.reads.confirmed(head.read, in: head.conversation)
        let read = self.reads.position(in: head.conversation)
        if read > head.read { self.move(&head, to: read) } else { self.recount(&head) }
        self.heads[head.conversation] = head
        guard self.unstoredReads.remove(head.conversation) != nil, read > new.read else { return [.store(.head(head))] }
        return [.store(.head(head)), .store(.read(head.conversation, n: read, isConfirmed: false))]
    }

    /// Handles the user's settings for a conversation after the server has stored them. The server
    /// sends the head that contains them within a second.
    package mutating func changed(_ own: OwnSetBody) -> [ClientAction] {
        guard var head = self.heads[own.conversation] else { return [] }
        head.own.apply(own)
        guard head != self.heads[own.conversation] else { return [] }
        self.heads[own.conversation] = head
        return [.store(.head(head))]
    }

    /// Handles a draft that the server has stored or removed. The server sends the head that
    /// contains the change within a second.
    package mutating func changed(draft: Draft?, in conversation: ConversationID) -> [ClientAction] {
        guard var head = self.heads[conversation], head.own.draft != draft else { return [] }
        head.own.draft = draft
        self.heads[conversation] = head
        return [.store(.head(head))]
    }

    /// Handles changed profiles or presences of users.
    package mutating func changed(_ users: [ChatUser]) -> [ClientAction] {
        let known = Dictionary(users.map { ($0.name, $0) }, uniquingKeysWith: { $1 })
        let concerned = self.heads.values.filter { $0.kind == .pair && $0.peer.map { known[$0.name] ?? $0 } != $0.peer }
        return concerned.sorted { $0.conversation.rawValue < $1.conversation.rawValue }.map { head in
            var head = head
            head.peer = head.peer.flatMap { known[$0.name] }
            self.heads[head.conversation] = head
            return .store(.head(head))
        }
    }

    private mutating func gone(_ conversation: ConversationID) -> [ClientAction] {
        self.listed?.remove(conversation)
        self.doubtful.remove(conversation)
        self.unstoredReads.remove(conversation)
        guard self.heads.removeValue(forKey: conversation) != nil else { return [] }
        self.logs[conversation] = nil
        self.unread[conversation] = nil
        self.reads.removed(conversation)
        return [.store(.gone(conversation))]
    }

    /// Returns whether the user can read the log. An invited or banned user can read only the head.
    func follows(_ head: ChatHead) -> Bool {
        switch head.state {
        case .joined, .left, .removed: true
        default: false
        }
    }

    /// Returns whether the user is a former member, whose log ends at the head.
    private func isFormer(_ head: ChatHead) -> Bool {
        switch head.state {
        case .left, .removed: true
        default: false
        }
    }

    mutating func advance(_ conversation: ConversationID, to seq: Int64, floor: Int64) -> [ClientAction] {
        if self.heads[conversation]?.mentions ?? 0 > 0 { self[log: conversation].isWanted = true }
        let action = self[log: conversation].headAdvanced(head: seq, floor: floor)
        return self.isOnline ? self.carryOut(action, in: conversation) : []
    }
}
