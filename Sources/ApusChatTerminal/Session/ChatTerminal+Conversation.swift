package import ApusChatClient
import ApusChatProtocol

/// The open conversation.
extension ChatTerminal {
    package func show(_ conversation: ChatConversation) async throws {
        if self.thread?.conversation.id != conversation.id || self.openThread != nil {
            await self.leaveConversation()
            let thread = ThreadModel(client: self.client, conversation: conversation.id)
            self.thread = thread
            await thread.open()
            if let error = thread.error, thread.rows.isEmpty { self.notice = (error.message, true) }
            if let draft = (try? await conversation.draft) ?? nil { self.screen.editor.set(draft.text) }
        }
        self.countScheduled()
        self.screen.show(conversation.id.rawValue)
        self.fill()
        self.screen.showFirstUnread()
        if self.thread?.head?.own.isMarkedUnread == true { try? await conversation.setOwn(isMarkedUnread: false) }
        if self.thread?.head?.kind == .group { await self.commander.loadMembers() }
        self.screen.editor.completions = await self.commander.completions()
    }

    /// Stores the draft of the open conversation and closes the conversation.
    func leaveConversation() async {
        self.unconfirmed = nil
        guard let thread = self.thread else { return }
        // A command in the input is not stored as a draft.
        let draft = self.screen.editor.isCommand ? "" : self.screen.editor.text
        let known = ((try? await thread.conversation.draft) ?? nil)?.text ?? ""
        if draft != known { try? await thread.conversation.setDraft(draft, sends: true) }
        self.screen.editor.set("")
        await thread.close()
        self.thread = nil
        self.openThread = nil
        self.scheduled = 0
        self.threadRows = []
        self.quotes = [:]
        self.wantedQuotes = []
        self.askedQuotes = []
    }

    package func jump(to seq: Int64) async throws {
        guard let thread = self.thread else { return }
        if self.openThread != nil { try await self.showThread(nil) }
        if !thread.rows.contains(where: { $0.event.seq == seq }) { await thread.jump(to: seq) }
        self.fill()
        guard let row = self.screen.messages.first(where: { $0.seq == seq }) else {
            throw ChatClientError(.notFound, message: "there is no message #\(seq)")
        }
        self.screen.mark(row.id)
    }

    func toEnd() async {
        if self.openThread == nil, self.thread?.hasLater == true { await self.thread?.jumpToEnd() }
        await self.reloadThread()
        self.screen.followEnd()
    }

    // MARK: Threads

    package func showThread(_ root: Int64?) async throws {
        self.openThread = root
        self.threadRows = []
        if let root, let thread = self.thread {
            self.threadRows = try await thread.conversation.replies(to: root).messages
        }
        self.screen.followEnd()
    }

    func reloadThread() async {
        guard let root = self.openThread, let thread = self.thread else { return }
        guard let page = try? await thread.conversation.replies(to: root) else { return }
        // Unsent replies are not in the log yet.
        self.threadRows = page.messages + thread.unsent.filter { $0.event.thread == root }
        self.changed()
    }

    // MARK: Updates

    func take(_ update: ChatUpdate) async {
        switch update {
        case .messages(let id, let messages) where id == self.thread?.conversation.id:
            // A message of the user can be a scheduled message that the server has sent.
            if self.scheduled > 0, messages.contains(where: \.isOwn) { self.countScheduled() }
            await self.reloadThread()
        case .outgoing(let message) where message.conversation == self.thread?.conversation.id:
            if case .failed(let error) = message.delivery {
                self.notice = ("Not sent: \(ChatText.reason(error, self.clock)) /retry or /discard", true)
            }
            await self.reloadThread()
        case .contact(let kind, let body) where kind.rawValue == "contact.request" && body.isIncoming:
            self.notice = ("✉ @\(body.user) asks to become a contact. /accept \(body.user) or /decline \(body.user)", false)
        case .contact(let kind, let body) where kind.rawValue == "contact.accept" && body.isIncoming:
            self.notice = ("@\(body.user) is now a contact.", false)
        case .device(let kind, let body) where kind.code == .deviceAdd:
            self.notice = ("New sign-in to your account: \(ChatText.harmless(body.name)). /sessions lists the devices", true)
        case .heads(let heads):
            self.screen.editor.completions = await self.commander.completions()
            for head in heads where head.state == .invited {
                self.notice = ("✉ invitation to \"\(head.title.map(ChatText.harmless) ?? "a group")\"; /requests", false)
            }
        case .gone(let conversations):
            guard let open = self.thread?.conversation.id, conversations.contains(open) else { return }
            await self.leaveConversation()
            self.screen.closeConversation()
            self.notice = ("The conversation no longer exists for you.", true)
        case .reset:
            await self.leaveConversation()
            self.screen.closeConversation()
            self.notice = ("The data of the server was replaced; the local copy was discarded.", true)
        case .connection(.signedOut): self.hasEnded = true
        case .storeFailed(let error): self.notice = (error.message, true)
        case .users(let users): for user in users { self.names[user.name] = await self.client.title(of: user.name) }
        default: return
        }
        self.changed()
    }

    /// Requests the number of scheduled messages of the open conversation. Without a connection,
    /// the number remains unchanged.
    func countScheduled() {
        guard let conversation = self.thread?.conversation else { return }
        Task { @MainActor [weak self] in
            guard let page = try? await conversation.scheduled(), self?.thread?.conversation.id == conversation.id else { return }
            self?.scheduled = page.messages.count { $0.conversation == conversation.id }
            self?.changed()
        }
    }

    // MARK: Values of the screen

    func fill() {
        let now = self.clock.now()
        self.screen.conversations = self.list.conversations.map { head in
            var preview = head.last.map { ChatText.summary(of: $0) } ?? ""
            if head.kind == .group, let sender = head.last?.sender {
                preview = "\(sender == self.client.user ? "you" : self.name(sender)): \(preview)"
            }
            return ScreenConversation(
                id: head.conversation.rawValue, title: self.title(of: head), preview: preview, time: self.clock.time(head.at),
                unread: head.unread, mentions: head.mentions, isPinned: head.own.pinnedAt != nil,
                isMuted: head.own.mutedUntil ?? 0 > now, notifiesMentionsOnly: head.own.notify == .mentions,
                isOnline: head.kind == .pair && head.peer?.online == true, hasDraft: head.own.draft.map { !$0.text.isEmpty } ?? false,
                isMarked: head.own.isMarkedUnread)
        }
        let rows = self.shownRows
        let bySeq = Dictionary(rows.compactMap { row in row.seq.map { ($0, row) } }, uniquingKeysWith: { $1 })
        let firstUnread = self.openThread == nil ? self.thread?.firstUnread : nil
        self.screen.messages = rows.map { row in
            let quote = row.event.ref.flatMap { ref in row.body == nil ? nil : bySeq[ref] ?? self.quote(ref) }
            var message = ScreenMessage(row, quote: quote, me: self.client.user, clock: self.clock, name: self.name)
            message.isFirstUnread = row.seq != nil && row.seq == firstUnread
            return message
        }
        self.screen.isThread = self.openThread != nil
        self.screen.hasEarlier = self.openThread == nil && self.thread?.hasEarlier == true
        self.screen.hasLater = self.openThread == nil && self.thread?.hasLater == true
        self.screen.unread = self.thread?.head?.unread ?? 0
        self.screen.subtitle = self.subtitle
        let typing = (self.thread?.typing ?? []).map(self.name)
        self.screen.typing =
            typing.isEmpty ? "" : typing.prefix(3).joined(separator: ", ") + (typing.count == 1 ? " is typing…" : " are typing…")
        self.screen.notice = self.notice.map { TerminalText.plain($0.text) } ?? self.thread?.error?.message ?? ""
        self.screen.isWarning = self.notice?.isWarning ?? (self.thread?.error != nil)
        self.screen.isOnline = self.list.connection == .online
        self.screen.connection = self.connection
    }

    private var connection: String {
        switch self.list.connection {
        case .connecting: "offline, connecting…"
        case .syncing: "synchronizing…"
        case .online: "\(self.client.user) online"
        case .signedOut(let error): "signed out: " + error.message
        case .closed: "closed"
        }
    }

    private var subtitle: String {
        guard let head = self.thread?.head else { return "" }
        var words: [String] = []
        switch head.kind {
        case .pair:
            if let peer = head.peer {
                words.append("@\(peer.name)")
                if peer.online == true {
                    words.append("online")
                } else if let seen = peer.lastSeen {
                    words.append("seen \(self.clock.moment(seen))")
                }
                if let status = peer.status, !status.isEmpty { words.append("“\(status)”") }
            }
        case .group, .channel: words.append("\(head.kind.rawValue), \(ChatText.members(head.members))")
        default: break
        }
        if head.own.mutedUntil ?? 0 > self.clock.now() {
            words.append("muted")
        } else if head.own.notify == .mentions {
            words.append("mentions only")
        }
        if !head.pins.isEmpty { words.append("\(head.pins.count) pinned") }
        if let expire = head.settings?.expire, expire > 0 { words.append("messages disappear") }
        if self.scheduled > 0 { words.append("\(self.scheduled) scheduled") }
        if let end = ChatText.silence(of: head, self.clock) { words.append(end) }
        return words.joined(separator: "  ")
    }

    /// Returns the title of a conversation: for a pair, the alias of the other user if there is
    /// one.
    func title(of head: ChatHead) -> String {
        head.kind == .pair && head.peer != nil ? ChatText.harmless(self.list.title(of: head)) : ChatText.title(of: head)
    }

    func name(_ user: UserName) -> String {
        if let known = self.names[user] { return known }
        self.wanted.insert(user)
        return user.rawValue
    }

    private func quote(_ seq: Int64) -> ChatMessage? {
        if let known = self.quotes[seq] { return known }
        if self.askedQuotes.insert(seq).inserted { self.wantedQuotes.insert(seq) }
        return nil
    }

    func requestNames() {
        guard !self.wanted.isEmpty else { return }
        let wanted = self.wanted
        self.wanted = []
        let client = self.client
        Task { @MainActor [weak self] in
            var isNew = false
            for user in wanted {
                guard await client.user(user) != nil else { continue }
                self?.names[user] = await client.title(of: user)
                isNew = true
            }
            if isNew { self?.changed() }
        }
    }

    func requestQuotes() {
        guard let conversation = self.thread?.conversation, !self.wantedQuotes.isEmpty else { return }
        let wanted = self.wantedQuotes
        self.wantedQuotes = []
        Task { @MainActor [weak self] in
            var isNew = false
            for seq in wanted {
                let page = try? await conversation.storedMessages(before: seq + 1, limit: 1)
                guard let row = page?.messages.last, row.event.seq == seq else { continue }
                self?.quotes[seq] = row
                isNew = true
            }
            if isNew, self?.thread?.conversation.id == conversation.id { self?.changed() }
        }
    }
}
