import ApusChatClient
import ApusChatProtocol
import ApusChatTerminal

// Lists and opens conversations, and prints their rows.
extension ChatLoop {
    private static let mostUnread: Int64 = 500
    /// The number of conversations that a list prints unless all are requested.
    private static let mostListed = 20

    /// Prints a list of conversations.
    ///
    /// - Parameter folder: The name of a folder, `all` for all conversations, or empty for the
    ///   first ``mostListed`` conversations.
    func list(_ folder: String = "") async throws {
        let isAll = !folder.isEmpty
        let heads = try await self.commander.chats(in: folder).sorted { left, right in
            let (isLeftUnread, isRightUnread) = (left.unread > 0, right.unread > 0)
            if !isAll, isLeftUnread != isRightUnread { return isLeftUnread }
            return left.at > right.at
        }
        self.commander.listed = heads.map(\.conversation)
        if heads.isEmpty, isAll { self.output.note("No conversations.", .dim) }
        if heads.allSatisfy({ $0.kind == .own }), !isAll {
            self.output.line("No conversations yet. /users NAME finds users, /open NAME starts a conversation.")
        }
        for (index, head) in heads.prefix(isAll ? heads.count : Self.mostListed).enumerated() {
            let unread = head.unread > 0 ? self.output.styled(" (\(head.unread) new)", .yellow) : ""
            let last = head.last.map { "  " + ChatText.summary(of: $0) } ?? ""
            let title = self.output.styled(ChatText.title(of: head), .bold)
            self.output.line("\(index + 1). \(title)\(unread)\(self.output.styled(last, .dim))")
        }
        if !isAll, heads.count > Self.mostListed {
            self.output.note("\(heads.count - Self.mostListed) more; /chats all lists them", .dim)
        }
    }

    /// Shows a conversation from its first unread message, preceded by some earlier messages. Shows
    /// at most the newest 500 messages.
    func show(_ conversation: ChatConversation) async throws {
        let head = try await conversation.head
        await self.current?.didClose()
        self.current = conversation
        self.openThread = nil
        self.writing = [:]
        self.receipts = [:]
        self.currentTitle = ChatText.title(of: head)
        self.output.line(self.output.styled("— \(self.currentTitle) —", .bold))
        await conversation.didOpen()
        if head.kind == .group, self.output.typing != nil { await self.commander.loadMembers() }
        self.screen = ChatRows(readThrough: head.read)
        let limit = Int(max(20, min(Self.mostUnread, head.unread + 5)))
        var page = try await conversation.messages(limit: limit)
        // Each request returns at most one page of the log.
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

    func jump(to seq: Int64) async throws {
        let page = try await self.opened().messages(around: seq, limit: 11)
        guard page.messages.contains(where: { $0.event.seq == seq }) else {
            throw ChatClientError(.notFound, message: "the conversation has no message #\(seq)")
        }
        self.output.note("— around #\(seq) —", .dim)
        for message in page.messages { self.output.line(self.line(message)) }
        self.output.note("— end —", .dim)
    }

    func showThread(_ root: Int64?) async throws {
        self.openThread = root
        guard let root else { return self.output.note("— end of the thread —", .dim) }
        self.output.note("— thread of #\(root); /thread ends it —", .dim)
        for message in try await self.opened().replies(to: root).messages { self.output.line(self.line(message)) }
    }

    private func opened() throws(ChatClientError) -> ChatConversation {
        guard let current else { throw ChatClientError(.invalidUse, message: "open a conversation first: /open NAME") }
        return current
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
        self.output.line(self.line(message))
    }

    private func line(_ message: ChatMessage) -> String {
        let name = self.name(ofSenderOf: message)
        let mark = message.isOwn ? self.output.styled("  " + ChatText.mark(for: message.delivery), .dim) : ""
        let place = message.seq.map { " #\($0)" } ?? ""
        let time = self.output.styled(self.clock.time(message.event.at) + place, .dim)
        let content = ChatText.content(of: message, quote: message.event.ref.flatMap { self.screen[$0] })
        return "\(time) \(self.output.styled(name, message.isOwn ? .plain : .cyan)): \(content)\(mark)"
    }
}
