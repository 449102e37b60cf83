import ApusChatProtocol
import Logging

// Requests of the user.
extension ChatEngine {
    func conversations() throws(ChatClientError) -> [ChatConversationInfo] {
        var infos: [ChatConversationInfo] = []
        for id in try self.store.conversationIDs() {
            if let info = try self.store.conversation(id, of: self.me) { infos.append(info) }
        }
        return infos
    }

    func conversation(_ id: ConversationID) throws(ChatClientError) -> ChatConversationInfo {
        guard let info = try self.store.conversation(id, of: self.me) else {
            throw ChatClientError(.notFound, message: "there is no conversation \(id)")
        }
        return info
    }

    func history(of conversation: ConversationID, before: Int64?, limit: Int) throws(ChatClientError) -> [ChatHistoryItem] {
        try self.store.history(of: conversation, me: self.me, before: before, limit: limit)
    }

    func currentState() -> ChatConnectionState { self.state }

    func unsentCount() -> Int { self.outbox.count }

    func user(_ id: UserID) -> ChatUser? { self.users[id] }

    /// Returns the pair conversation with a user. Works offline if the conversation is already
    /// known.
    func conversation(with name: String) async throws(ChatClientError) -> ConversationID {
        let folded = name.lowercased()
        if let known = self.users.values.first(where: { $0.name.lowercased() == folded }), let pair = try self.pair(with: known.id) {
            return pair
        }
        // A user with exactly this name comes first on the first page.
        guard let user = try await self.users(matching: name).users.first(where: { $0.name.lowercased() == folded }) else {
            throw ChatClientError(.notFound, message: "there is no user named \(name)")
        }
        guard user.id != self.me else { throw ChatClientError(.badInput, message: "\(name) is your own name; use another user's name") }
        try self.remember([user])
        let reply = try await self.ask(ChatVerb.open, OpenRequest(with: user.id), as: HeadReply.self)
        return try self.opened(reply.head)
    }

    private func pair(with user: UserID) throws(ChatClientError) -> ConversationID? {
        for id in try self.store.conversationIDs() {
            guard let info = try self.store.conversation(id, of: self.me), info.kind == .pair else { continue }
            if info.members.contains(where: { $0.user == user }) { return id }
        }
        return nil
    }

    func createGroup(title: String, members: [UserID]) async throws(ChatClientError) -> ConversationID {
        let reply = try await self.ask(ChatVerb.create, CreateRequest(title: title, members: members), as: HeadReply.self)
        return try self.opened(reply.head)
    }

    private func opened(_ head: ChatHead) throws(ChatClientError) -> ConversationID {
        guard self.adopt(head) else { throw ChatClientError(.store, message: "the conversation could not be stored") }
        self.carryOut(self.machines[head.conv]?.synchronized(head: head.seq, floor: head.minSeq) ?? .doNothing, in: head.conv)
        return head.conv
    }

    func users(matching query: String?, after page: String? = nil) async throws(ChatClientError) -> UsersReply {
        let reply = try await self.ask(ChatVerb.users, UsersRequest(query: query, after: page), as: UsersReply.self)
        // Updates known users only; other results of the search are not stored.
        try self.remember(reply.users.filter { self.users[$0.id] != nil })
        return reply
    }

    // MARK: Reading

    /// Marks all messages up to `number` as read: locally at once, and on the server when it is
    /// connected.
    func markRead(upTo number: Int64?, in conversation: ConversationID) throws(ChatClientError) {
        let info = try self.conversation(conversation)
        let read = min(number ?? info.lastNumber, info.lastNumber)
        guard read > info.read else { return }
        try self.store.setRead(read, by: self.me, in: conversation, isMine: true)
        self.announce(conversation)
        if self.state == .online { self.sendRead(read, in: conversation) }
    }

    func sendRead(_ read: Int64, in conversation: ConversationID) {
        self.start { await self.sendReadMark(read, in: conversation) }
    }

    private func sendReadMark(_ read: Int64, in conversation: ConversationID) async {
        do throws(ChatClientError) {
            let reply = try await self.ask(ChatVerb.mark, MarkRequest(conv: conversation, read: read), as: MarkReply.self)
            try self.store.confirmRead(max(reply.read, read), in: conversation)
        } catch {
            // The store keeps the position as unconfirmed; the next connection sends it.
            self.logger.debug("Read mark not sent", metadata: ["chat.error": "\(error)"])
        }
    }

    // MARK: Earlier history

    /// Fetches missing history: the newest gap if there is one, otherwise the events before the
    /// oldest stored event.
    /// - Returns: The number of fetched events; 0 when the history is complete.
    func loadEarlier(limit: Int, in conversation: ConversationID) async throws(ChatClientError) -> Int {
        let gap = try self.store.newestGap(of: conversation)
        let bounds = try self.store.bounds(of: conversation)
        let before: Int64
        if let gap {
            guard gap.upperBound < .max else { return 0 }
            before = gap.upperBound + 1
        } else {
            guard let lowest = bounds.lowest, lowest > max(bounds.floor, 1) else { return 0 }
            before = lowest
        }
        let limit = min(max(limit, 1), ChatLimits.syncEvents)
        let reply = try await self.ask(
            ChatVerb.sync, SyncRequest.backward(conv: conversation, before: before, limit: limit), as: EventsReply.self)
        let events = reply.events.filter { $0.conv == conversation && $0.seq < before }.sorted { $0.seq < $1.seq }
        // An empty answer means that there are no earlier events.
        let first = events.first?.seq ?? gap?.lowerBound ?? before - 1
        try self.store.insertEarlier(events, covering: min(first, before - 1)...(before - 1), in: conversation, me: self.me)
        return events.count
    }

    // MARK: Pictures

    func download(_ blob: BlobID) async throws(ChatClientError) -> [UInt8] { try await self.blobs.download(blob) }
}
