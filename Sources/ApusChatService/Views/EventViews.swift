import ApusChatProtocol
import ApusChatStorage
import ApusJSON

extension ReadContext {
    /// Converts events to the protocol, as the viewer may see them.
    func events(_ views: [EventView], in key: ConversationKey) throws -> [ChatEvent] {
        let senders = Set(views.compactMap { $0.row?.sender })
        let names = try self.names.names(of: senders, self.reads)
        return views.map { ChatEvent(self.served($0), in: key, names: names) }
    }

    /// Returns the viewer's reactions and votes. Omits events that have neither.
    static func mine(_ views: [EventView]) -> [HistoryAnswer.Mine] {
        views.compactMap { view in
            guard let own = view.own, !own.reactions.isEmpty || own.votes != 0 else { return nil }
            let votes = (0..<Int64(64)).filter { own.votes >> UInt64($0) & 1 == 1 }
            return HistoryAnswer.Mine(seq: view.seq, reactions: own.reactions, votes: votes)
        }
    }

    /// Returns the preview of an event for a list of conversations.
    func preview(_ view: EventView, in key: ConversationKey) throws -> EventPreview {
        guard let event = try self.events([view], in: key).first else {
            return EventPreview(seq: view.seq, n: view.n > 0 ? view.n : nil, sender: nil, at: 0, kind: .hidden)
        }
        return ChatKinds.preview(of: event)
    }
}

extension ChatEvent {
    init(_ view: EventView, in key: ConversationKey, names: [UserKey: UserName]) {
        guard let row = view.row else {
            self = .hidden(conversation: ConversationID(key), seq: view.seq, n: view.n > 0 ? view.n : nil)
            return
        }
        self.init(row, names: names)
    }

    init(_ row: EventRow, names: [UserKey: UserName]) {
        var body: JSONObject = [:]
        if !row.body.isEmpty { body = (try? JSONValue(jsonString: row.body))?.objectValue ?? [:] }
        if row.isClosed, !row.state.isBlank { body["closed"] = .bool(true) }
        self.init(
            conversation: ConversationID(row.conversation), seq: row.seq, n: row.n > 0 ? row.n : nil, sender: names[row.sender],
            id: row.clientID, at: row.at, kind: row.kind, ref: row.ref > 0 ? row.ref : nil, thread: row.thread > 0 ? row.thread : nil,
            state: row.state, body: body, editedAt: row.editedAt > 0 ? row.editedAt : nil,
            expiresAt: row.expiresAt > 0 ? row.expiresAt : nil, reactions: row.reactions.sorted { $0.count > $1.count },
            votes: row.votes, replies: row.replyCount > 0 ? ThreadSummary(count: row.replyCount, seq: row.lastReply) : nil)
    }
}
