import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Read requests, which are answered for the users in turn.
extension Server {
    /// Answers at most `count` read requests.
    func serveReads(_ count: Int) {
        for snapshot in self.snapshots where self.loads[snapshot.user] == snapshot.load {
            self.router.loaded(snapshot.conversations, of: snapshot.user)
        }
        self.snapshots.removeAll(keepingCapacity: true)
        var taken: [(user: UserKey, element: Read)] = []
        while taken.count < count, let next = self.reads.next() { taken.append(next) }
        for (user, read) in taken {
            switch read {
            case .load(let user, let load): self.snapshots.append((user, load, self.storage.conversations(of: user)))
            case .request(let request, let socket): if let connection = self.connections[socket] { self.serve(request, on: connection) }
            }
            self.reads.finished(user)
            self.counts.reads += 1
        }
    }

    private func serve(_ request: Request, on connection: Connection) {
        switch request {
        case .hello(let since, let epoch): self.serveHello(since, epoch, on: connection)
        case .sync(let request):
            if let answer = self.sync(request, for: connection.user) {
                connection.send(.sync(answer))
            } else {
                connection.send(.syncRefused(Self.resync))
            }
        case .history(let request, let isScroll):
            let answer = self.history(request, for: connection.user)
            connection.send(
                answer.map { .history($0, request, isScroll: isScroll) }
                    ?? .historyRefused(ChatError(.notFound, message: "The conversation does not exist."), request, isScroll: isScroll))
        case .command, .forward: break
        }
    }

    private static let resync = ChatError(.resync, message: "The token belongs to another state of the server.")

    private func serveHello(_ since: PageToken?, _ epoch: PageToken?, on connection: Connection) {
        guard let current = PageToken(self.storage.epoch), let device = self.oracle.name(of: connection.user) else { return }
        var answer = HelloAnswer(
            epoch: current, at: self.clock.wall, user: ChatUser(name: device), device: DeviceID(number: Int64(connection.device)),
            own: ConversationID(number: self.oracle.own[connection.user]?.rawValue ?? 0))
        // A device with a different data epoch must discard its cache before it synchronizes.
        if epoch == nil || epoch == current {
            guard let sync = self.sync(SyncRequest(since: since), for: connection.user) else {
                connection.send(.helloRefused(Self.resync))
                return
            }
            answer.sync = sync
        }
        connection.send(.hello(answer))
    }

    // MARK: Sync

    /// The maximum number of heads on a page.
    private static let headsPage = 6

    /// Returns the answer to `sync`; nil if the token is not valid.
    private func sync(_ request: SyncRequest, for user: UserKey) -> SyncAnswer? {
        let place = request.page.flatMap { SyncPlace($0.rawValue) }
        let position = place?.position ?? self.storage.position()
        guard let token = PageToken(position.description) else { return nil }
        guard let since = request.since.flatMap({ SyncPosition($0.rawValue) }) else {
            let page = self.storage.heads(of: user, after: place?.heads, limit: Self.headsPage)
            let next = page.next.map { SyncPlace(position: position, heads: $0).token } ?? nil
            return SyncAnswer(heads: page.heads.map { self.head($0, to: user) }, page: next, token: token)
        }
        guard case .page(let rows, let next) = self.storage.changes(of: user, after: since, cursor: place?.changes, limit: Self.headsPage)
        else { return nil }
        return SyncAnswer(
            heads: rows.filter { !$0.member.isGone }.map { self.head($0, to: user) },
            gone: rows.filter(\.member.isGone).map { ConversationID(number: $0.conversation.key.rawValue) },
            page: next.flatMap { SyncPlace(position: position, changes: $0).token }, token: token)
    }

    func head(_ row: HeadRow, to user: UserKey) -> ChatHead {
        let counters = row.conversation.counters
        let view = MemberView(row.member)
        var head = ChatHead(
            conversation: ConversationID(number: row.conversation.key.rawValue), kind: row.conversation.kind, state: row.member.state,
            role: row.member.role, members: Int64(counters.memberCount), membersVersion: counters.membersVersion,
            seq: view.map { max(0, min($0.last, counters.lastSeq)) } ?? 0, n: counters.lastN, minSeq: row.member.minSeq,
            read: max(row.member.readN, row.member.floorN), unread: row.unread, mentions: row.mentions, at: counters.lastAt,
            pins: row.pins)
        head.own = OwnSettings(
            pinnedAt: row.member.pinnedAt > 0 ? row.member.pinnedAt : nil, isArchived: row.member.isArchived,
            mutedUntil: row.member.mutedUntil > 0 ? row.member.mutedUntil : nil, isMarkedUnread: row.member.isMarkedUnread)
        if self.bug == .unreadCountsChanges, row.member.state == .joined { head.unread = max(head.unread, head.seq - head.read) }
        if self.bug == .mentionsSurviveRecall { head.mentions = self.staleMentions(of: row) }
        if !row.member.isGone, let fault = self.oracle.fault(of: head, to: user, draft: row.draft) {
            self.faults.append("served to \(user.rawValue): \(fault)")
        }
        return head
    }

    /// Returns the number of unread mentions with the planted bug: it decreases only when the read
    /// position moves.
    private func staleMentions(of row: HeadRow) -> Int64 {
        let read = max(row.member.readN, row.member.floorN)
        let known = self.mentions[row.member.address]
        let mentions = known?.read == read ? max(known?.count ?? 0, row.mentions) : row.mentions
        self.mentions[row.member.address] = (read, mentions)
        return mentions
    }

    // MARK: History

    private func history(_ request: HistoryRequest, for user: UserKey) -> HistoryAnswer? {
        let key = ConversationKey(request.conversation.number)
        guard let row = self.storage.head(of: user, in: key), let view = MemberView(row.member) else { return nil }
        let selection: EventSelection =
            switch request.range {
            case .newest: .through(.max)
            case .from(let seq), .around(let seq): .from(seq)
            case .before(let seq): .through(seq - 1)
            }
        if row.member.minSeq > 1 { self.coverage.note(.floor) }
        if row.member.state != .joined { self.coverage.note(.formerHistory) }
        let reader = self.bug?.reader(of: row, in: self.oracle.books[key]) ?? user
        let views = self.storage.events(in: key, selection, as: reader, limit: min(request.limit, ChatLimits.historyEvents))
        let events = views.map { self.encoder.event($0, in: key) }
        self.check(events, to: user)
        return HistoryAnswer(
            conversation: request.conversation, events: events, seq: min(view.last, row.conversation.counters.lastSeq), minSeq: view.first)
    }

    func check(_ events: [ChatEvent], to user: UserKey) {
        guard let first = events.first else { return }
        guard let book = self.oracle.books[ConversationKey(first.conversation.number)], let person = book.people[user] else {
            return self.faults.append("served to \(user.rawValue): \(first.conversation), of which it knows nothing")
        }
        for event in events {
            if event.kind == .hidden { self.coverage.note(.hidden) }
            if let fault = self.oracle.fault(of: event, in: book, to: person, user)
                ?? self.oracle.threadFault(of: event, in: book, user, isStored: false)
            {
                self.faults.append("served to \(user.rawValue) in \(event.conversation): \(fault)")
            }
        }
    }
}

/// The position of a page of heads, which a page token encodes.
struct SyncPlace {
    var position: SyncPosition
    var heads: HeadsCursor?
    var changes: ConversationKey?

    init(position: SyncPosition, heads: HeadsCursor? = nil, changes: ConversationKey? = nil) {
        self.position = position
        self.heads = heads
        self.changes = changes
    }

    init?(_ text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let position = SyncPosition(String(parts[0])) else { return nil }
        let numbers = parts[1].split(separator: ",").compactMap { Int64($0) }
        self.init(position: position)
        if numbers.count == 1 { self.changes = ConversationKey(numbers[0]) }
        if numbers.count == 3 {
            self.heads = HeadsCursor(pinnedAt: numbers[0], lastAt: numbers[1], conversation: ConversationKey(numbers[2]))
        }
    }

    var token: PageToken? {
        if let heads = self.heads { return PageToken("\(self.position)/\(heads.pinnedAt),\(heads.lastAt),\(heads.conversation.rawValue)") }
        return PageToken("\(self.position)/\(self.changes?.rawValue ?? 0)")
    }
}
