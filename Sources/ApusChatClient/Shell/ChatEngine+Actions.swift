import ApusChatCore
import ApusChatProtocol

extension ChatEngine {
    /// Performs a list of actions: first the changes, in one transaction, then the requests.
    func carryOut(_ actions: [ClientAction]) {
        let changes = actions.compactMap { action in if case .store(let change) = action { change } else { nil } }
        if !changes.isEmpty {
            let me = self.me
            let effects = self.storing { () throws(ChatClientError) in try self.store.apply(changes, of: me) }
            guard let effects else { return self.recover() }
            self.announce(effects)
            self.announceCalls(changes)
        }
        for action in actions {
            switch action {
            case .store: break
            case .request(let request): self.perform(request)
            case .startTimer(let timer, let delay):
                self.after(delay) { engine in engine.carryOut(engine.core.timerFired(timer)) }
            case .endSession(let error): self.endSession(error)
            }
        }
        if self.core.isOnline { self.becomeOnline() }
    }

    /// Publishes the changed states of calls. Their events are not published as messages.
    private func announceCalls(_ changes: [StoreChange]) {
        for case .events(let events, _) in changes {
            let updates = events.filter { $0.kind == .callUpdate }
            if let conversation = updates.first?.conversation { self.broadcaster.yield(call: .events(conversation, updates)) }
        }
    }

    /// Restores the state machines from the store after a failed write, and reconnects. The
    /// machines contain changes that were not stored.
    private func recover() {
        self.generation += 1
        self.core.disconnected()
        self.storing { () throws(ChatClientError) in try self.restore() }
        self.reconnect(after: self.configuration.refusalDelay)
    }

    private func becomeOnline() {
        guard self.state == .syncing || self.state == .connecting else { return }
        self.become(.online)
        self.sendDrafts()
        // A new connection has no subscriptions.
        if !self.opened.isEmpty { self.subscribe() }
        self.loadContacts()
        for conversation in self.opened.keys { self.loadReceipts(of: conversation) }
        self.repeatReceived()
    }

    private func perform(_ request: ClientRequest) {
        let generation = self.generation
        switch request {
        case .hello(let since, let epoch): self.start { await self.hello(since: since, epoch: epoch, generation) }
        case .sync(let request): self.start { await self.sync(request, generation) }
        case .history(let request):
            self.pullsWaiting.append(request)
            self.startPulls()
        case .send(let id, _): self.start { await self.transmit(id, generation) }
        case .mark(let request): self.start { await self.mark(request, generation) }
        }
    }

    // MARK: Requests of the core

    /// The features of this version, without calls unless the application handles their signals.
    private var features: [String] {
        self.configuration.handlesCalls ? ChatFeature.all : ChatFeature.all.filter { $0 != PushFeature.calls.rawValue }
    }

    private func hello(since: PageToken?, epoch: PageToken?, _ generation: Int) async {
        let device = HelloDevice(name: self.configuration.deviceName, platform: self.configuration.platform)
        let request = HelloRequest(features: self.features, device: device, epoch: epoch, sync: SyncRequest(since: since))
        do throws(ChatClientError) {
            let answer = try await self.ask(ChatVerbs.hello, request)
            guard generation == self.generation else { return }
            self.own = answer.own
            self.ownChangesSeq = 0
            self.limits = answer.limits
            self.take(serverTime: answer.at)
            self.take([answer.user])
            self.carryOut(self.core.answered(hello: answer))
        } catch {
            guard generation == self.generation else { return }
            let actions = self.core.failed(hello: error.asServerError)
            self.carryOut(actions)
            guard actions.isEmpty else { return }
            self.reconnect(after: error.serverError?.retryAfter.map { .milliseconds($0) } ?? self.configuration.refusalDelay)
        }
    }

    private func sync(_ request: SyncRequest, _ generation: Int) async {
        do throws(ChatClientError) {
            let answer = try await self.ask(ChatVerbs.sync, request)
            guard generation == self.generation else { return }
            self.carryOut(self.core.answered(sync: answer))
        } catch {
            guard generation == self.generation else { return }
            self.carryOut(self.core.failed(sync: error.asServerError))
        }
    }

    /// Starts waiting history requests, up to `maximumPulls` at a time: first those of the
    /// conversations on the screen, then those of the newest conversations.
    private func startPulls() {
        while self.pullsRunning < self.configuration.maximumPulls {
            let next = self.pullsWaiting.indices.max { self.urgency(of: self.pullsWaiting[$0]) < self.urgency(of: self.pullsWaiting[$1]) }
            guard let next else { return }
            let request = self.pullsWaiting.remove(at: next)
            let generation = self.generation
            self.pullsRunning += 1
            self.start { await self.pull(request, generation) }
        }
    }

    private func urgency(of request: HistoryRequest) -> Int64 {
        if self.opened[request.conversation] != nil { return .max }
        return self.core.heads[request.conversation]?.at ?? 0
    }

    private func pull(_ request: HistoryRequest, _ generation: Int) async {
        do throws(ChatClientError) {
            let answer = try await self.ask(ChatVerbs.history, request)
            guard generation == self.generation else { return }
            self.pullsRunning -= 1
            self.storing { () throws(ChatClientError) in try self.store.save(mine: answer.mine, in: request.conversation) }
            self.carryOut(self.core.answered(answer, to: request))
        } catch {
            guard generation == self.generation else { return }
            self.pullsRunning -= 1
            self.carryOut(self.core.failed(request, with: error.asServerError))
        }
        self.startPulls()
    }

    private func transmit(_ id: ClientID, _ generation: Int) async {
        let entry = self.storing { () throws(ChatClientError) in try self.store.entry(id) }
        guard generation == self.generation, let entry else { return }
        guard var entry, entry.state == .queued else { return self.carryOut(self.core.discarded(id)) }
        self.sending.insert(id)
        self.broadcaster.yield(.outgoing(self.message(entry)))
        var hasLostReferences = false
        do throws(ChatClientError) {
            if let cited = entry.cited {
                let request = try await self.verified(entry.request, cited)
                guard generation == self.generation else { return }
                hasLostReferences = request != entry.request
                (entry.request, entry.cited) = (request, nil)
                self.broadcaster.yield(.outgoing(self.message(entry)))
            }
            let answer = try await self.ask(ChatVerbs.send, entry.request)
            guard answer.id == id, answer.conversation == entry.conversation else {
                throw ChatClientError(.badAnswer, message: "the acknowledgement of message \(id) has another id: \(answer.id)")
            }
            self.sending.remove(id)
            self.carryOut(self.core.answered(answer))
        } catch {
            guard generation == self.generation else { return }
            self.sending.remove(id)
            // The server has the message with its references, and the log will contain it.
            if hasLostReferences, error.serverError?.code == .conflict, (try? self.discard(id)) != nil { return }
            if self.uploadAgain(entry, after: error) { return }
            self.broadcaster.yield(.outgoing(self.message(entry)))
            self.carryOut(self.core.failed(send: id, with: error.asServerError))
        }
    }

    private func mark(_ request: MarkRequest, _ generation: Int) async {
        do throws(ChatClientError) {
            let answer = try await self.ask(ChatVerbs.mark, request)
            guard generation == self.generation else { return }
            self.carryOut(self.core.answered(answer))
        } catch {
            guard generation == self.generation else { return }
            self.carryOut(self.core.failed(request, with: error.asServerError))
        }
    }
}
