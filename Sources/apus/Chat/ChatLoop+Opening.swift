import ApusChatClient
import ApusChatProtocol

/// Lists and opens conversations, and shows their rows.
extension ChatLoop {
    private static let mostUnread: Int64 = 500

    func list() async {
        let heads = await self.client.heads.filter { $0.state == .joined && !$0.own.isArchived }.sorted { $0.at > $1.at }
        self.listed = heads.map(\.conversation)
        if heads.allSatisfy({ $0.kind == .own }) {
            self.output.line("No conversations yet. /users NAME finds users, /open NAME starts a conversation.")
        }
        for (index, head) in heads.enumerated() {
            let unread = head.unread > 0 ? self.output.styled(" (\(head.unread) new)", .yellow) : ""
            let last = head.last.map { "  " + ChatText.summary(of: $0) } ?? ""
            let title = self.output.styled(ChatText.title(of: head), .bold)
            self.output.line("\(index + 1). \(title)\(unread)\(self.output.styled(last, .dim))")
        }
    }

    /// Tab completes commands, `@` and the names of members, and the names and titles for `/open`.
    func offerCompletions() async {
        guard let typing = self.output.typing else { return }
        var words = ChatLine.commands + ["@all"]
        var users = Set(self.members)
        for head in await self.client.heads {
            if let peer = head.peer?.name { users.insert(peer) }
            if let title = head.title, !title.contains(where: \.isWhitespace) { words.append(ChatOutput.harmless(title)) }
        }
        for user in users.sorted() { words += ["@\(user)", user.rawValue] }
        typing.complete(words)
    }

    func open(_ name: String) async throws {
        try await self.show(try await self.conversation(named: name))
    }

    /// Returns the conversation with a number in `/chats`, a title or a user name.
    private func conversation(named name: String) async throws -> ChatConversation {
        if let number = Int(name), self.listed.indices.contains(number - 1) { return self.client.conversation(self.listed[number - 1]) }
        let heads = await self.client.heads.filter { $0.state == .joined }
        let wanted = name.lowercased()
        if let known = heads.first(where: {
            ChatText.title(of: $0).lowercased() == wanted || $0.peer?.name.rawValue == wanted && $0.kind == .pair
        }) {
            return self.client.conversation(known.conversation)
        }
        return try await self.conversation(with: name.hasPrefix("@") ? String(name.dropFirst()) : name)
    }

    /// Shows a conversation from its first unread message on, with some earlier messages.
    func show(_ conversation: ChatConversation) async throws {
        let head = try await conversation.head
        await self.current?.didClose()
        self.current = conversation
        self.currentTitle = ChatText.title(of: head)
        self.output.line(self.output.styled("— \(self.currentTitle) —", .bold))
        await conversation.didOpen()
        self.members = []
        if head.kind == .group, self.output.typing != nil, self.isOnline, let members = try? await conversation.members() {
            self.members = members.members.map(\.user.name)
        }
        self.screen = ChatRows(readThrough: head.read)
        let limit = Int(max(20, min(Self.mostUnread, head.unread + 5)))
        var page = try await conversation.messages(limit: limit)
        // Each request brings at most one page of the log.
        while head.unread > 0, page.hasEarlier, page.messages.count < limit, let first = page.messages.first?.event.seq,
            let earlier = try? await conversation.messages(before: first, limit: limit - page.messages.count), !earlier.messages.isEmpty
        {
            page.messages = earlier.messages + page.messages
            page.hasEarlier = earlier.hasEarlier
        }
        let firstUnread = head.unread > 0 ? page.messages.first { $0.event.n ?? 0 > head.read } : nil
        self.screen.isComplete = !page.hasEarlier || head.unread == 0 || page.messages.first?.event.seq != firstUnread?.event.seq
        for message in page.messages {
            if message.event.seq == firstUnread?.event.seq {
                let note = self.screen.isComplete ? "" : "; earlier ones are not shown, see /history"
                self.output.note("— unread messages\(note) —", .yellow)
            }
            self.print(message)
        }
        for message in (try? await conversation.unsent) ?? [] { self.print(message) }
        await self.markShown()
    }

    func history() async throws {
        let conversation = try self.opened()
        let page = try await conversation.messages(before: self.screen.first, limit: 50)
        guard !page.messages.isEmpty else { return self.output.note("There are no earlier messages.", .dim) }
        self.output.note("— earlier messages —", .dim)
        for message in page.messages { self.print(message) }
        self.output.note("— end of the earlier messages\(page.hasEarlier ? "; /history shows more" : "") —", .dim)
    }

    func search(_ words: String) async throws {
        let (hits, isStoredOnly) = try await self.client.searchReachable(words)
        if isStoredOnly { self.output.note("No connection: only messages of this device are searched.", .dim) }
        guard !hits.isEmpty else { return self.output.note("No messages found.", .dim) }
        for hit in hits.reversed() {
            let title = (try? await self.client.conversation(hit.message.conversation).head).map(ChatText.title) ?? "?"
            let sender = hit.message.event.sender?.rawValue ?? "?"
            self.output.line(
                self.output.styled("[\(title)] #\(hit.message.event.seq) ", .cyan) + "\(sender): \(ChatOutput.harmless(hit.snippet))")
        }
    }

    func name(ofSenderOf message: ChatMessage) -> String {
        message.isOwn || message.event.sender == self.client.user ? "you" : message.event.sender?.rawValue ?? "server"
    }

    /// Marks the messages on the screen as read.
    func markShown() async {
        if let last = self.screen.lastRead { await self.current?.markRead(last) }
    }

    /// Prints a row and records that it is on the screen.
    func print(_ message: ChatMessage) {
        self.screen.shown(message)
        let name = self.name(ofSenderOf: message)
        let mark = message.isOwn ? self.output.styled("  " + ChatText.mark(for: message.delivery), .dim) : ""
        let place = message.seq.map { " #\($0)" } ?? ""
        let time = self.output.styled(ChatText.time(message.event.at) + place, .dim)
        self.output.line("\(time) \(self.output.styled(name, message.isOwn ? .plain : .cyan)): \(ChatText.content(of: message))\(mark)")
    }
}
