import ApusChatProtocol
import ApusJSON
import Logging

extension ChatEngine {
    /// Handles an event of the transport.
    func received(_ event: ChatTransportEvent) async {
        switch event {
        case .connected:
            self.generation += 1
            self.syncFailures = 0
            self.become(.synchronizing)
            self.startSync()
        case .disconnected(let reason, let comesBack):
            self.logger.debug("Chat connection lost", metadata: ["chat.reason": "\(reason)"])
            self.lost()
            if case .signedOut = self.state { return }
            self.become(.connecting)
            // The server closed the namespace. It may be restarting, so the client tries again.
            if !comesBack { self.after(self.configuration.serverCloseDelay) { $0.transport.connect() } }
        case .refused(let error):
            self.lost()
            self.become(.signedOut(reason: error.message))
        case .push(let name, let payload):
            await self.receivedPush(name, payload)
        case .pushesLost:
            self.logger.warning("Pushes dropped; synchronizing")
            self.startSync()
        }
    }

    private func lost() {
        self.generation += 1
        self.outbox.disconnected()
        self.pullsWaiting = []
        for conversation in self.machines.keys { self.machines[conversation]?.disconnected() }
        for (id, user) in self.users where user.online { self.users[id]?.online = false }  // unknown while disconnected
    }

    private func receivedPush(_ name: String, _ payload: JSONValue) async {
        let decoder = JSONValueDecoder()
        do {
            switch name {
            case ChatVerb.event: self.received(try decoder.decode(ChatEvent.self, from: payload))
            case ChatVerb.head: self.received(try decoder.decode(ChatHead.self, from: payload))
            case ChatVerb.mark: self.received(try decoder.decode(ChatMark.self, from: payload))
            case ChatVerb.presence: self.received(try decoder.decode(ChatPresence.self, from: payload))
            case ChatVerb.bye: await self.received(try decoder.decode(ChatBye.self, from: payload))
            default: self.logger.debug("Unknown push", metadata: ["chat.event": "\(name)"])  // of a later version
            }
        } catch {
            // A lost event is pulled after the next event leaves a hole, or by the next sync.
            self.logger.warning("Invalid push", metadata: ["chat.event": "\(name)", "chat.error": "\(error)"])
        }
    }

    private func received(_ mark: ChatMark) {
        let isMine = mark.user == self.me
        self.storing { () throws(ChatClientError) in
            try self.store.setRead(mark.read, by: mark.user, in: mark.conv, isMine: isMine)
            if isMine { try self.store.confirmRead(mark.read, in: mark.conv) }
        }
        self.broadcaster.yield(.mark(mark))
        self.announce(mark.conv)
    }

    private func received(_ presence: ChatPresence) {
        guard var user = self.users[presence.user] else { return }
        user.online = presence.online
        self.users[presence.user] = user
        self.broadcaster.yield(.presence(user))
    }

    private func received(_ bye: ChatBye) async {
        guard !bye.reason.permitsReconnect else { return }
        self.lost()
        self.become(.signedOut(reason: "the session has ended (\(bye.reason.rawValue)); log in again"))
        await self.transport.close()
    }

    // MARK: Synchronization

    /// Requests users and changed heads, then starts the outbox (docs/chat-rules.md, 5). Repeated
    /// after a failure while the connection lasts.
    private func startSync() {
        let generation = self.generation
        self.start { await self.sync(generation) }
    }

    private func sync(_ generation: Int) async {
        do throws(ChatClientError) {
            guard try await self.requestUsers(generation), try await self.requestHeads(generation) else { return }
            self.become(.online)
            for (conversation, read) in try self.store.unsentReads() { self.sendRead(read, in: conversation) }
            for id in self.outbox.connected() { self.transmit(id) }
        } catch {
            guard self.generation == generation else { return }
            if error.code == .unauthorized {
                self.become(.signedOut(reason: error.message))
                return
            }
            self.logger.warning("Sync failed", metadata: ["chat.error": "\(error)"])
            let delay = self.configuration.sync.retryDelay(afterAttempts: self.syncFailures)
            self.syncFailures += 1
            self.after(delay) { $0.startSync() }
        }
    }

    /// Requests the user and all contacts, page by page. Returns `false` if the connection was lost
    /// in the meantime.
    private func requestUsers(_ generation: Int) async throws(ChatClientError) -> Bool {
        var page: String?
        repeat {
            let hello = try await self.ask(ChatVerb.hello, HelloRequest(page: page), as: HelloReply.self)
            guard self.generation == generation else { return false }
            try self.remember(hello.users + [hello.user])
            page = try self.next(hello.page, after: page)
        } while page != nil
        return true
    }

    /// Requests and stores the changed heads, page by page. Returns `false` if the connection was
    /// lost in the meantime.
    private func requestHeads(_ generation: Int) async throws(ChatClientError) -> Bool {
        let since = try self.store.lastSync().map { self.configuration.start(ofSyncAfter: $0) }
        var page: String?
        repeat {
            let reply = try await self.ask(ChatVerb.sync, SyncRequest.heads(since: since, page: page), as: HeadsReply.self)
            guard self.generation == generation else { return false }
            page = try self.next(reply.page, after: page)
            // The time is stored with the last page. A crash between two pages therefore repeats
            // the sync.
            try self.store.save(heads: reply.heads, synchronizedAt: page == nil ? reply.at : nil)
            self.synchronize(reply.heads)
        } while page != nil
        self.resumePulls()
        return true
    }

    private func next(_ page: String?, after before: String?) throws(ChatClientError) -> String? {
        guard let page else { return nil }
        guard page != before else { throw ChatClientError(.badReply, message: "the server returned the same page token twice") }
        return page
    }

    func remember(_ users: [ChatUser]) throws(ChatClientError) {
        try self.store.save(users: users)
        for user in users { self.users[user.id] = user }
    }
}

extension ChatClientConfiguration {
    /// Returns the start of the next sync. `last` comes from the server and can have any value.
    fileprivate func start(ofSyncAfter last: Int64) -> Int64 {
        let (since, overflow) = last.subtractingReportingOverflow(self.syncOverlap.milliseconds)
        return overflow ? 0 : max(0, since)
    }
}

extension Duration {
    /// The duration in whole milliseconds.
    var milliseconds: Int64 {
        let (seconds, attoseconds) = self.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000).partialValue
    }
}
