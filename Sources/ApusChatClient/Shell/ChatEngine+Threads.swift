import ApusChatCore
import ApusChatProtocol

/// A page of the messages of a conversation or of a thread.
public struct ThreadPage: Sendable, Hashable {
    /// The rows, oldest first.
    public var messages: [ChatMessage]
    /// Whether there may be rows before the page.
    public var hasEarlier: Bool
    /// Whether there may be rows after the page.
    public var hasLater: Bool
}

extension ChatEngine {
    func head(_ conversation: ConversationID) throws(ChatClientError) -> ChatHead {
        guard let head = self.core.heads[conversation] else {
            throw ChatClientError(.notFound, message: "the store has no conversation \(conversation)")
        }
        return head
    }

    /// Returns the head of a conversation, and starts to follow its log.
    private func followed(_ conversation: ConversationID) throws(ChatClientError) -> ChatHead {
        let head = try self.head(conversation)
        self.carryOut(self.core.opened(conversation))
        return head
    }

    /// Returns the rows before a position, from the store or, if rows are missing, from the server.
    ///
    /// - Parameter requests: Whether missing rows are requested from the server.
    func earlier(
        in conversation: ConversationID, before seq: Int64?, limit: Int, requests: Bool = true
    ) async throws(ChatClientError) -> ThreadPage {
        let head = try self.followed(conversation)
        let limit = max(1, limit)
        if seq == nil, requests { try await self.loadEnd(of: conversation, through: head.seq) }
        // Each answer contains at most a page of changes that are not shown, so a few requests find
        // the rows.
        for attempt in 0..<4 {
            let page = try self.store.page(of: conversation, before: seq, limit: limit, me: self.me)
            let isAtStart = page.missingBefore.map { head.isStart($0) } ?? true
            guard page.messages.count < limit, !isAtStart, requests, attempt < 3, let edge = page.missingBefore else {
                return ThreadPage(messages: page.messages, hasEarlier: !isAtStart, hasLater: seq != nil)
            }
            do throws(ChatClientError) {
                let range: HistoryRequest.Range = edge == .max ? .newest : .before(edge)
                guard try await !self.loadHistory(HistoryRequest(conversation: conversation, range: range)).isEmpty else { break }
            } catch {
                // Without a connection, the stored rows are returned.
                guard error.code == .notConnected || error.code == .timeout, !page.messages.isEmpty else { throw error }
                break
            }
        }
        let page = try self.store.page(of: conversation, before: seq, limit: limit, me: self.me)
        return ThreadPage(
            messages: page.messages, hasEarlier: page.missingBefore.map { !head.isStart($0) } ?? false, hasLater: seq != nil)
    }

    /// Loads the events between the newest stored one and the end of the log, unless there are too
    /// many. The core also requests them, but later.
    private func loadEnd(of conversation: ConversationID, through end: Int64) async throws(ChatClientError) {
        guard self.state == .online, var newest = try self.store.newestSeq(of: conversation), end - newest <= Self.maximumTail else {
            return
        }
        do throws(ChatClientError) {
            while newest < end {
                let events = try await self.loadHistory(HistoryRequest(conversation: conversation, range: .from(newest + 1)))
                guard let last = events.last?.seq, last > newest else { return }
                newest = last
            }
        } catch {
            guard error.code == .notConnected || error.code == .timeout else { throw error }
        }
    }

    private static let maximumTail: Int64 = 1_000

    /// Returns the rows after a position.
    func later(in conversation: ConversationID, after seq: Int64, limit: Int) async throws(ChatClientError) -> ThreadPage {
        let head = try self.followed(conversation)
        let limit = max(1, limit)
        var page = try self.store.page(of: conversation, after: seq, limit: limit, me: self.me)
        if let gap = page.gapAfter {
            do throws(ChatClientError) {
                _ = try await self.loadHistory(HistoryRequest(conversation: conversation, range: .from(gap.lowerBound)))
                page = try self.store.page(of: conversation, after: seq, limit: limit, me: self.me)
            } catch {
                guard error.code == .notConnected || error.code == .timeout else { throw error }
            }
        }
        let last = page.messages.last?.event.seq ?? seq
        return ThreadPage(
            messages: page.messages, hasEarlier: true, hasLater: page.gapAfter != nil || (page.messages.count == limit && last < head.seq))
    }

    /// Returns the rows on both sides of a position.
    func around(_ seq: Int64, in conversation: ConversationID, limit: Int) async throws(ChatClientError) -> ThreadPage {
        let half = max(1, limit / 2)
        if try self.store.messages([seq], in: conversation, me: self.me).isEmpty {
            _ = try await self.loadHistory(HistoryRequest(conversation: conversation, range: .around(seq)))
        }
        let before = try await self.earlier(in: conversation, before: seq + 1, limit: half, requests: false)
        let after = try await self.later(in: conversation, after: seq, limit: half)
        return ThreadPage(messages: before.messages + after.messages, hasEarlier: before.hasEarlier, hasLater: after.hasLater)
    }

    /// Returns the position of the first unread message; nil if all messages are read, or if the
    /// message is not stored and a few requests do not find it.
    func firstUnread(in conversation: ConversationID) async throws(ChatClientError) -> Int64? {
        let head = try self.followed(conversation)
        guard head.unread > 0 else { return nil }
        let wanted = head.read + 1
        if let known = try self.store.seq(ofMessage: wanted, in: conversation) { return known }
        // The server finds events by their `seq`, not by their ordinal. The number of changes after
        // the wanted message is not known, so this is an upper bound of its `seq`.
        var seq = max(head.minSeq, head.seq - (head.n - wanted))
        for _ in 0..<4 where self.state == .online {
            let events = try await self.loadHistory(HistoryRequest(conversation: conversation, range: .around(seq)))
            if let found = try self.store.seq(ofMessage: wanted, in: conversation) { return found }
            guard let first = events.lazy.compactMap(\.n).first, first > wanted else { return nil }
            seq = max(head.minSeq, (events.first?.seq ?? seq) - (first - wanted))
        }
        return nil
    }

    /// Returns the messages of the user that the stored log of a conversation does not contain.
    func unsent(in conversation: ConversationID) throws(ChatClientError) -> [ChatMessage] {
        try self.store.unsent(in: conversation).map { self.message($0) }
    }

    /// Returns the messages of all conversations that the server has not stored.
    func unsent() throws(ChatClientError) -> [ChatMessage] {
        try self.store.unsent().map { self.message($0) }
    }

    /// Requests a part of the history and stores it. Without a connection it fails immediately, so
    /// that the caller can return the stored rows.
    private func loadHistory(_ request: HistoryRequest) async throws(ChatClientError) -> [ChatEvent] {
        guard self.state != .connecting else { throw ChatClientError(.notConnected, message: "there is no connection to the server") }
        let answer = try await self.askPatiently(ChatVerbs.history, request)
        let events = answer.events.filter { $0.conversation == request.conversation }
        let found = try self.store.insertHistory(events, mine: answer.mine, asOf: answer.seq)
        self.announceFound(found, in: request.conversation)
        self.want(events.compactMap(\.sender))
        return events
    }

    /// Publishes that rows of the log replace acknowledged messages, which were in a gap.
    func announceFound(_ ids: [ClientID], in conversation: ConversationID) {
        for id in ids {
            self.carryOut(self.core.discarded(id))
            self.broadcaster.yield(.discarded(conversation, id))
        }
    }

    // MARK: The screen

    /// Subscribes to the events and presences of a conversation that is shown on the screen.
    func opened(_ conversation: ConversationID) {
        self.opened[conversation, default: 0] += 1
        self.carryOut(self.core.opened(conversation))
        self.subscribe()
        self.loadReceipts(of: conversation)
    }

    func closed(_ conversation: ConversationID) {
        guard let count = self.opened[conversation] else { return }
        self.opened[conversation] = count > 1 ? count - 1 : nil
        self.subscribe()
    }

    /// Requests the events and presences of the shown conversations. The request replaces the
    /// former subscriptions, and is empty if no conversation is shown.
    func subscribe() {
        guard self.state == .online else { return }
        let request = SubscribeRequest(conversations: Array(self.opened.keys.sorted().prefix(ChatLimits.subscriptions)))
        self.start { _ = try? await self.ask(ChatVerbs.subscribe, request) }
    }

    /// Requests the read positions of the members, because no push reports the changes that
    /// occurred without a connection.
    func loadReceipts(of conversation: ConversationID) {
        guard self.state == .online, let head = self.core.heads[conversation], head.state == .joined, head.tellsReceipts else { return }
        self.start {
            guard let answer = try? await self.ask(ChatVerbs.members, MembersRequest(conversation: conversation)), answer.page == nil else {
                return
            }
            await self.take(receipts: answer.members, of: conversation)
        }
    }

    private func take(receipts members: [ChatMember], of conversation: ConversationID) {
        self.take(members.map(\.user))
        self.storing { () throws(ChatClientError) in try self.store.save(members: members, of: conversation) }
        self.broadcaster.yield(.receipts(conversation))
    }

    // MARK: Positions and drafts

    func read(_ n: Int64, in conversation: ConversationID) { self.carryOut(self.core.read(n, in: conversation)) }

    /// Stores a draft. ``sendDrafts()`` sends it to the user's other devices.
    func save(draft text: String, ref: Int64?, in conversation: ConversationID) throws(ChatClientError) {
        _ = try self.head(conversation)
        try self.store.save(draft: Draft(text: text, ref: ref, at: self.environment.now()), in: conversation)
    }

    /// Returns the draft of a conversation, written on this or another device.
    func draft(in conversation: ConversationID) throws(ChatClientError) -> Draft? {
        let known = try self.head(conversation).own.draft
        // Another device may have replaced or removed a draft since it was sent. An unsent draft
        // will replace that of the server. Their times are not compared: the clocks may differ.
        guard let own = try self.store.draft(in: conversation), try !self.store.hasSentDraft(in: conversation) else { return known }
        return own.text.isEmpty ? nil : own
    }

    /// Returns the empty draft that removes the server's draft of a conversation; nil if the server
    /// has none. It is newer than that draft, also by the clock of the server.
    func draftRemoval(in conversation: ConversationID) throws(ChatClientError) -> Draft? {
        let other = self.core.heads[conversation]?.own.draft
        if other == nil, !self.draftsInFlight.contains(conversation), try !self.store.hasSentDraft(in: conversation) { return nil }
        let oldest = min(other?.at ?? 0, .max - 1) + 1
        return Draft(text: "", ref: nil, at: max(self.environment.now(), oldest))
    }

    func sendDrafts() {
        guard self.state == .online else { return }
        self.start { await self.transmitDrafts() }
    }

    private func transmitDrafts() async {
        guard let drafts = self.storing({ () throws(ChatClientError) in try self.store.unsentDrafts() }) else { return }
        for (conversation, draft) in drafts {
            let request = DraftRequest(id: self.environment.makeID(), conversation: conversation, text: draft.text, ref: draft.ref)
            self.draftsInFlight.insert(conversation)
            let answer = try? await self.ask(ChatVerbs.draft, request)
            self.draftsInFlight.remove(conversation)
            guard let answer else { return }
            self.storing { () throws(ChatClientError) in try self.store.sentDraft(draft, in: conversation) }
            let sent = Draft(text: draft.text, ref: draft.ref, at: answer.at)
            self.carryOut(self.core.changed(draft: draft.text.isEmpty ? nil : sent, in: conversation))
        }
    }
}

extension ChatHead {
    /// Returns whether the user can see no event before a position. In an empty log, this is true
    /// for each position.
    fileprivate func isStart(_ seq: Int64) -> Bool { seq <= self.minSeq || self.seq < self.minSeq }
}
