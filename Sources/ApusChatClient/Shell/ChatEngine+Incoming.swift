import ApusChatCore
import ApusChatProtocol
import ApusJSON
import Logging

extension ChatEngine {
    /// The delay before received messages are reported to the server, so that one request reports
    /// several.
    private static let receivedDelay: Duration = .seconds(1)

    // MARK: The connection

    func receivedEvent(_ event: ChatTransportEvent) async {
        switch event {
        case .connected:
            self.plannedConnection = nil
            self.lost()
            self.become(.syncing)
            self.carryOut(self.core.connected())
        case .disconnected(let reconnects):
            self.lost()
            self.become(.connecting)
            if !reconnects, self.plannedConnection == nil { self.reconnect(after: self.configuration.refusalDelay) }
        case .refused(let error): self.refused(error)
        case .push(let name, let payload): self.pushed(name, payload)
        case .answer(let number, let result): await self.deliver(number, result)
        case .pushesLost: self.carryOut(self.core.timerFired(.sync))
        }
    }

    /// Handles the loss of the connection: pending answers and timers of the connection are
    /// discarded.
    private func lost() {
        self.generation += 1
        self.pullsWaiting = []
        self.pullsRunning = 0
        self.receivedWaiting = []
        let sending = self.sending
        self.sending = []
        for id in sending { self.announceOutgoing(id) }
        self.core.disconnected()
    }

    func reconnect(after delay: Duration) {
        guard self.state != .closed else { return }
        if case .signedOut = self.state { return }
        self.lost()
        self.become(.connecting)
        self.transport.disconnect()
        let plan = self.planConnection()
        self.start {
            guard (try? await self.environment.sleep(delay)) != nil else { return }
            await self.open(plan)
        }
    }

    /// Handles a refused connection. The access token may have expired while the client was
    /// disconnected; a refresh determines whether the session has ended.
    private func refused(_ error: ChatError) {
        guard error.code == .unauthorized else {
            return error.code.isTemporary ? self.reconnect(after: self.configuration.refusalDelay) : self.endSession(error)
        }
        self.lost()
        self.become(.connecting)
        self.transport.disconnect()
        let plan = self.planConnection()
        self.start { await self.renewToken(plan) }
    }

    private func renewToken(_ plan: Int) async {
        await self.tokens.reject()
        do throws(ChatClientError) {
            _ = try await self.tokens.access()
            self.open(plan)
        } catch {
            guard self.plannedConnection == plan else { return }
            if error.code == .signedOut { return self.endSession(error.asServerError) }
            self.reconnect(after: self.configuration.refusalDelay)
        }
    }

    /// Handles the end of the session on the server. The store remains until the user signs out.
    func endSession(_ error: ChatError) {
        self.plannedConnection = nil
        self.lost()
        self.transport.disconnect()
        self.become(.signedOut(error))
    }

    // MARK: Pushes

    private func pushed(_ name: String, _ payload: JSONValue) {
        do throws(WireError) {
            switch name {
            case ChatPushes.event.name:
                let push = try EventPush(json: payload)
                self.carryOut(self.core.pushed(push))
                for event in push.events {
                    switch ChatChange(event) {
                    case .contact(let body)?:
                        self.broadcaster.yield(.contact(event.kind, body))
                        self.loadContacts()
                    case .device(let body)?: self.broadcaster.yield(.device(event.kind, body))
                    case .ownSet(let body)?:
                        self.ownChangesSeq = max(self.ownChangesSeq, event.seq)
                        self.carryOut(self.core.changed(body))
                    default: break
                    }
                }
            case ChatPushes.head.name: self.carryOut(self.core.pushed(try HeadPush(json: payload)))
            case ChatPushes.mark.name: self.carryOut(self.core.pushed(try MarkPush(json: payload)))
            case ChatPushes.user.name:
                let users = try UserPush(json: payload).users
                self.take(users)
                self.carryOut(self.core.changed(users))
            case ChatPushes.presence.name: self.take(try PresencePush(json: payload))
            case ChatPushes.typing.name:
                let push = try TypingPush(json: payload)
                self.broadcaster.yield(.typing(push.conversation, push.user, isTyping: !push.isStopped))
            case ChatPushes.signal.name: self.broadcaster.yield(call: .signal(try SignalPush(json: payload)))
            case ChatPushes.bye.name: self.said(try ByePush(json: payload))
            default: break
            }
        } catch {
            self.logger.warning("A push of the server is not valid", metadata: ["chat.push": "\(name)", "chat.error": "\(error.message)"])
        }
    }

    private func said(_ bye: ByePush) {
        if bye.reason.permitsReconnect {
            // The server sends each client a random delay. If the delay is absent, the client
            // chooses one.
            let delay = bye.retryAfter.map { Duration.milliseconds($0) }
            self.reconnect(after: delay ?? self.configuration.refusalDelay * (1 + self.environment.random()))
        } else {
            let code: ChatError.Code = bye.reason == .version ? .unsupported : .unauthorized
            self.endSession(ChatError(code, message: bye.reason.explanation))
        }
    }

    private func take(_ push: PresencePush) {
        let users = push.users.map { entry in
            var user = self.users[entry.user] ?? ChatUser(name: entry.user)
            user.online = entry.isOnline
            user.lastSeen = entry.lastSeen ?? user.lastSeen
            return user
        }
        let known = users.filter { self.users[$0.name] != nil }
        self.take(users)
        self.carryOut(self.core.changed(known))
    }

    /// Stores profiles and publishes the changed ones.
    func take(_ users: [ChatUser]) {
        let changed = users.filter { self.users[$0.name] != $0 }
        guard !changed.isEmpty else { return }
        for user in changed { self.users[user.name] = user }
        self.storing { () throws(ChatClientError) in try self.store.save(users: changed) }
        self.broadcaster.yield(.users(changed))
    }

    // MARK: Announcements

    /// Publishes the effects of a transaction.
    func announce(_ effects: StoreEffects) {
        if effects.isReset {
            self.received = [:]
            self.broadcaster.yield(.reset)
        }
        if !effects.heads.isEmpty {
            self.take(effects.heads.compactMap(\.peer))
            self.broadcaster.yield(.heads(effects.heads))
        }
        for gap in effects.gaps { self.broadcaster.yield(.gap(gap.conversation, gap.range)) }
        let me = self.me
        for (conversation, seqs) in effects.events {
            let messages = self.storing { () throws(ChatClientError) in
                try self.store.messages(seqs, in: conversation, me: me)
            }
            guard let messages, !messages.isEmpty else { continue }
            self.want(messages.compactMap(\.event.sender))
            self.broadcaster.yield(.messages(conversation, messages))
            self.noteReceived(messages, in: conversation)
        }
        for id in effects.outgoing { self.announceOutgoing(id) }
        if let expiry = effects.expiry { self.planExpiry(at: expiry) }
        if !effects.heads.isEmpty { self.planExpiry(at: self.core.nextPreviewExpiry) }
        for conversation in effects.peers { self.broadcaster.yield(.receipts(conversation)) }
        if !effects.gone.isEmpty { self.broadcaster.yield(.gone(effects.gone)) }
    }

    func announceOutgoing(_ id: ClientID) {
        let entry = self.storing { () throws(ChatClientError) in try self.store.entry(id) }
        if let entry = entry.flatMap({ $0 }) { self.broadcaster.yield(.outgoing(self.message(entry))) }
    }

    /// Returns the row that represents an unsent message.
    func message(_ entry: OutboxEntry) -> ChatMessage {
        let request = entry.request
        let delivery: DeliveryState =
            switch entry.state {
            case .queued: self.sending.contains(entry.id) ? .sending : .queued
            case .uploading: .uploading
            case .refused: .failed(entry.error ?? ChatError(.unknown, message: ""))
            case .sent: .sent
            }
        let event = ChatEvent(
            conversation: request.conversation, seq: entry.seq ?? 0, n: entry.n, sender: self.me, id: request.id, at: entry.at,
            kind: request.kind, ref: request.ref, thread: request.thread, body: request.body)
        return ChatMessage(
            event: event, delivery: delivery, progress: entry.state == .uploading ? self.progress[entry.id] ?? 0 : nil)
    }

    // MARK: Receipts

    /// Reports received messages of other users to the server, in conversations that show receipts.
    private func noteReceived(_ messages: [ChatMessage], in conversation: ConversationID) {
        guard let head = self.core.heads[conversation], head.kind == .pair || head.members <= Int64(ChatLimits.receiptMembers),
            let n = messages.last(where: { $0.event.sender != self.me && $0.event.n != nil })?.event.n,
            n > self.received[conversation] ?? head.read
        else { return }
        self.received[conversation] = n
        self.reportReceived([conversation])
    }

    /// Reports received messages again after a connection was made: a report can be lost with the
    /// former connection, and a server that was restarted has no earlier reports.
    func repeatReceived() {
        let unread = self.received.filter { $0.value > self.core.readPosition(in: $0.key) }
        if !unread.isEmpty { self.reportReceived(unread.keys) }
    }

    private func reportReceived(_ conversations: some Collection<ConversationID>) {
        let isFirst = self.receivedWaiting.isEmpty
        self.receivedWaiting.formUnion(conversations)
        guard isFirst else { return }
        self.after(Self.receivedDelay) { engine in
            let waiting = engine.receivedWaiting
            engine.receivedWaiting = []
            for conversation in waiting {
                // A message that was read since then needs no report: a read message is also
                // received.
                guard let n = engine.received[conversation], n > engine.core.readPosition(in: conversation) else { continue }
                _ = try? await engine.ask(ChatVerbs.mark, MarkRequest(conversation: conversation, received: n))
            }
        }
    }

    // MARK: Users

    /// Requests the profiles of unknown users, several in one request.
    func want(_ names: [UserName]) {
        let unknown = Set(names).subtracting(self.users.keys).subtracting(self.usersWanted)
        guard !unknown.isEmpty else { return }
        let isFirst = self.usersWanted.isEmpty
        self.usersWanted.formUnion(unknown)
        guard isFirst else { return }
        self.start { await self.requestUsers() }
    }

    private func requestUsers() async {
        while !self.usersWanted.isEmpty {
            let names = Array(self.usersWanted.sorted().prefix(ChatLimits.requestUsers))
            guard let answer = try? await self.askPatiently(ChatVerbs.users, UsersRequest(names: names)) else {
                self.usersWanted = []
                return
            }
            self.usersWanted.subtract(names)
            self.take(answer.users)
        }
    }
}

extension ByePush.Reason {
    /// The text of the error with which a session ends.
    fileprivate var explanation: String {
        switch self {
        case .signedOut: "The session was ended, on this or another device. Sign in again."
        case .accountClosed: "The account was suspended or deleted."
        case .version: "The server does not support this version of the client. Update the client."
        case .protocolError: "The server ended the session, because the client violated the protocol. Sign in again."
        case .shutdown, .slow, .unknown: "The server ended the session. Sign in again."
        }
    }
}
