import ApusChatClient
import ApusChatProtocol
import ApusChatTerminal

// Prints the changes that occur while the program runs.
extension ChatLoop {
    /// The maximum number of conversations with new messages that are printed individually.
    private static let mostToldAtOnce = 5

    func show(_ update: ChatUpdate) async {
        switch update {
        case .connection(let state): await self.show(state)
        case .messages(let id, let rows) where id == self.current?.id:
            for row in rows { self.show(arrived: row) }
            await self.markShown()
        case .messages(_, let rows):
            for row in rows { self.confirm(row) }
        case .outgoing(let message): self.show(outgoing: message)
        case .heads(let heads): self.show(heads)
        case .gap(let id, _) where id == self.current?.id:
            self.screen.isComplete = false
            self.output.note("… some messages are missing here; /open shows the conversation again", .yellow)
        case .contact(let kind, let body): self.show(kind, body)
        case .device(let kind, let body) where kind.code == .deviceAdd:
            let device = "\(ChatText.harmless(body.name)) (\(ChatText.harmless(body.platform)))"
            self.output.note("New sign-in to your account: \(device). /sessions lists the devices", .yellow)
        case .users(let users): await self.show(presenceOf: users)
        case .storeFailed(let error): self.output.error(error.message)
        case .missed: self.output.note("… some messages are missing here; /open shows the conversation again", .yellow)
        case .reset:
            self.output.note("The data of the server was replaced; the local copy was discarded.", .yellow)
            self.current = nil
        case .gone(let conversations):
            if let current, conversations.contains(current.id) {
                self.output.note("\(self.currentTitle) no longer exists, or you are no longer a member.", .yellow)
                self.current = nil
            }
        case .discarded(_, let id): self.typed.remove(id)
        case .receipts(let id) where id == self.current?.id: await self.showReceipts()
        case .typing(let id, let user, let isTyping) where id == self.current?.id: self.show(user, isTyping: isTyping)
        case .device, .gap, .receipts, .typing: break
        }
    }

    private func show(_ state: ChatConnectionState) async {
        switch state {
        case .connecting where self.isOnline:
            self.isOnline = false
            self.output.note("Connection lost; reconnecting. Messages are queued and sent after reconnecting.", .yellow)
        case .online where !self.isOnline:
            self.isOnline = true
            self.output.note("Connected.", .green)
            await self.tellRequests()
        case .signedOut(let reason): self.signedOut = reason.message
        case .connecting, .syncing, .online, .closed: break
        }
    }

    /// Prints the number of pending requests, if the client is connected.
    func tellRequests() async {
        guard self.isOnline, let pending = try? await self.commander.pendingRequests(), !pending.isEmpty else { return }
        self.output.note("✉ \(pending.count) request\(pending.count == 1 ? " waits" : "s wait") for an answer; /requests", .yellow)
    }

    /// Prints that a user is writing. Prints this on a terminal only, and at most every 30 seconds.
    private func show(_ user: UserName, isTyping: Bool) {
        guard isTyping else { return self.writing[user] = nil }
        let now = self.clock.now()
        // Clients repeat the notification while the user writes.
        if self.output.isTerminal, now - self.writing[user, default: 0] > 30_000 { self.output.note("\(user) is typing…", .dim) }
        self.writing[user] = now
    }

    /// Prints that the newest own message was received or read.
    private func showReceipts() async {
        guard let current, let last = self.screen.newest(where: \.isOwn)?.event.seq else { return }
        guard let page = try? await current.storedMessages(before: last + 1, limit: 1), let row = page.messages.last,
            row.event.seq == last, let delivery = row.delivery, self.receipts[last] != delivery
        else { return }
        self.receipts = [last: delivery]
        if self.output.isTerminal, delivery == .delivered || delivery == .read {
            self.output.note("\(ChatText.mark(for: delivery)) #\(last)", .dim)
        }
    }

    // MARK: Messages

    private func show(arrived row: ChatMessage) {
        if self.confirm(row) { return self.screen.shown(row) }
        switch self.screen.news(of: row) {
        case .new: self.print(row)
        case .changed:
            self.output.line(
                self.output.styled("✎ #\(row.event.seq) ", .dim) + "\(self.name(ofSenderOf: row)): \(ChatText.content(of: row))")
            self.screen.shown(row)
        case .known, .earlier: break
        }
    }

    /// Records that the server has stored a message of this terminal.
    /// - Returns: Whether the message was sent from this terminal, so that its row is not printed
    ///   again.
    @discardableResult
    private func confirm(_ row: ChatMessage) -> Bool {
        guard let id = row.event.id, row.isOwn else { return false }
        if self.typed.remove(id) != nil {
            // On a terminal, the text is already visible as the input line.
            let summary = self.output.isTerminal ? "" : ": \(ChatText.summary(of: row))"
            self.output.note("✓ sent\(summary)", .dim)
            self.confirmed.insert(id)
            return true
        }
        return self.confirmed.contains(id) && self.screen[row.event.seq] == nil
    }

    private func show(outgoing message: ChatMessage) {
        switch message.delivery {
        case .sent, .delivered, .read:
            // The event of the message is added to the log later.
            if self.confirm(message), message.conversation == self.current?.id { self.screen.shown(message) }
        case .failed(let error):
            guard let id = message.event.id, self.typed.remove(id) != nil else { return }
            self.output.note(
                "✗ not sent: \(ChatText.reason(error, self.clock))  (\(ChatText.summary(of: message))); /retry or /discard", .red)
        default: break
        }
    }

    /// Prints invitations and new messages in other conversations: one line per conversation, or a
    /// single line if there are many.
    private func show(_ heads: [ChatHead]) {
        var news: [ChatHead] = []
        for head in heads {
            let known = self.told.updateValue(head.n, forKey: head.conversation)
            if head.conversation == self.current?.id {
                self.currentTitle = ChatText.title(of: head)
                continue
            }
            if head.state == .invited, known == nil {
                let title = head.title.map(ChatText.harmless) ?? "a group"
                let inviter = head.peer.map { "@\($0.name)" } ?? "A user"
                self.output.note("✉ \(inviter) invites you to \"\(title)\". /requests lists, /accept \(title) joins.", .yellow)
                continue
            }
            guard head.n > known ?? 0, head.unread > 0, head.own.mutedUntil ?? 0 <= self.clock.now(),
                head.own.notify != .mentions || head.mentions > 0, head.last?.sender != self.client.user
            else { continue }
            news.append(head)
        }
        guard self.isOnline else { return }
        guard news.count <= Self.mostToldAtOnce else {
            return self.output.note("\(news.count) conversations have new messages; /chats lists them", .cyan)
        }
        for head in news {
            let sender = head.last?.sender.map { "\($0): " } ?? ""
            let text = head.last.map { ChatText.summary(of: $0) } ?? ""
            self.output.line(self.output.styled("[\(ChatText.title(of: head))] ", .cyan) + sender + text)
        }
    }

    // MARK: People

    private func show(_ kind: EventKind, _ body: ContactBody) {
        switch (kind.rawValue, body.isIncoming) {
        case ("contact.request", true):
            let text = body.text.map { ": \"\(ChatText.harmless($0))\"" } ?? ""
            self.output.note("✉ @\(body.user) asks to become a contact\(text). /accept \(body.user) or /decline \(body.user)", .yellow)
        case ("contact.accept", true): self.output.note("@\(body.user) is now a contact.", .green)
        default: break
        }
    }

    private func show(presenceOf users: [ChatUser]) async {
        guard let current, let peer = (try? await current.head)?.peer?.name else { return }
        for user in users where user.name == peer {
            guard let isOnline = user.online, self.online.contains(peer) != isOnline else { continue }
            if isOnline { self.online.insert(peer) } else { self.online.remove(peer) }
            if self.output.isTerminal { self.output.note("\(peer) is \(isOnline ? "online" : "away")", .dim) }
        }
    }
}
