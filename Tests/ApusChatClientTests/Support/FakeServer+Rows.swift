import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusJSON

/// Converts the rows of the storage to the values that the server sends. The caller holds the lock.
extension FakeServer {
    func sync(of user: UserKey) -> SyncAnswer {
        let heads = self.storage.heads(of: user, after: nil, limit: 200).heads.map { self.head($0, of: user) }
        return SyncAnswer(heads: heads, token: Value.token("token"))
    }

    private func head(_ row: HeadRow, of user: UserKey) -> ChatHead {
        let counters = row.conversation.counters
        let peer = row.conversation.pair.flatMap { pair in self.names[pair.low == user ? pair.high : pair.low] }
        var head = ChatHead(
            conversation: ConversationID(number: row.conversation.key.rawValue), kind: row.conversation.kind, state: row.member.state,
            role: row.member.role, peer: peer.map { ChatUser(name: $0) }, members: Int64(counters.memberCount),
            settings: row.conversation.kind == .pair ? nil : row.conversation.settings, seq: counters.lastSeq, n: counters.lastN,
            minSeq: row.member.minSeq, read: max(row.member.readN, row.member.floorN), unread: row.unread, at: counters.lastAt)
        head.own.draft = self.drafts[row.member.address]
        return head
    }

    func history(_ request: HistoryRequest, of user: UserKey) -> HistoryAnswer {
        let key = ConversationKey(request.conversation.number)
        let last = self.storage.head(of: user, in: key)?.conversation.counters.lastSeq ?? 0
        if let root = request.thread {
            let first = self.storage.events(in: key, .from(root), as: user, limit: 1)
            var views: [EventView]
            switch request.range {
            case .from(let seq), .around(let seq):
                views = seq <= root ? first : []
                views += self.storage.events(in: key, .thread(root, from: seq), as: user, limit: request.limit - views.count)
            case .newest:
                views = self.storage.events(in: key, .threadEnd(root, through: .max), as: user, limit: request.limit)
                if views.count < request.limit { views = first + views }
            case .before(let seq):
                views = self.storage.events(in: key, .threadEnd(root, through: seq - 1), as: user, limit: request.limit)
                if views.count < request.limit, seq > root { views = first + views }
            }
            return HistoryAnswer(
                conversation: request.conversation, events: views.map { self.event($0, in: request.conversation) }, seq: last)
        }
        let selection: EventSelection
        switch request.range {
        case .newest: selection = .through(.max)
        case .from(let seq): selection = .from(seq)
        case .before(let seq): selection = .through(seq - 1)
        case .around(let seq): selection = .from(max(1, seq - Int64(request.limit / 2)))
        }
        let views = self.storage.events(in: key, selection, as: user, limit: request.limit)
        return HistoryAnswer(
            conversation: request.conversation, events: views.map { self.event($0, in: request.conversation) }, seq: last)
    }

    func event(_ view: EventView, in conversation: ConversationID) -> ChatEvent {
        guard let row = view.row else { return .hidden(conversation: conversation, seq: view.seq, n: view.n > 0 ? view.n : nil) }
        let body = (try? JSONReader.read(Array(row.body.utf8)))?.objectValue ?? [:]
        return ChatEvent(
            conversation: conversation, seq: row.seq, n: row.n > 0 ? row.n : nil, sender: self.names[row.sender], id: row.clientID,
            at: row.at, kind: row.kind, ref: row.ref > 0 ? row.ref : nil, thread: row.thread > 0 ? row.thread : nil, state: row.state,
            body: body, editedAt: row.editedAt > 0 ? row.editedAt : nil, expiresAt: row.expiresAt > 0 ? row.expiresAt : nil,
            reactions: row.reactions, votes: row.votes,
            replies: row.replyCount > 0 ? ThreadSummary(count: row.replyCount, seq: row.lastReply) : nil)
    }

    func messages(of push: Push, to transport: FakeTransport) -> [(FakeTransport, String, JSONValue)] {
        guard let receiver = transport.user else { return [] }
        switch push {
        case .events(let key, let first, let last):
            let views = self.storage.events(in: key, .from(first), as: receiver, limit: Int(last - first + 1))
            let events = views.map { self.event($0, in: ConversationID(number: key.rawValue)) }
            return events.isEmpty ? [] : [(transport, "event", EventPush(events: events).json)]
        case .head(let key, let user):
            guard user == receiver, let row = self.storage.head(of: user, in: key) else { return [] }
            return [(transport, "head", HeadPush(heads: [self.head(row, of: user)]).json)]
        case .read(let key, let user, let n):
            guard let name = self.names[user] else { return [] }
            let mark = ReadMark(conversation: ConversationID(number: key.rawValue), user: name, read: n)
            return [(transport, "mark", MarkPush(marks: [mark]).json)]
        case .arrived, .departed, .user, .profile: return []
        }
    }
}
