import ApusChatProtocol
import Logging

extension ChatEngine {
    /// Handles one page of the answer to `sync`, newest conversations first.
    func synchronize(_ heads: [ChatHead]) {
        for head in heads { self.ensureMachine(head.conv) }
        for head in heads.sorted(by: { $0.updatedAt > $1.updatedAt }) {
            self.announce(head.conv)
            self.carryOut(self.machines[head.conv]?.synchronized(head: head.seq, floor: head.minSeq) ?? .doNothing, in: head.conv)
        }
    }

    /// Pulls the holes that remain from earlier connections. The answer to `sync` need not contain
    /// these conversations.
    func resumePulls() {
        for conversation in self.machines.keys.sorted() {
            self.carryOut(self.machines[conversation]?.resumed() ?? .doNothing, in: conversation)
        }
    }

    /// Handles a pushed head of a new or changed conversation.
    func received(_ head: ChatHead) {
        guard self.adopt(head) else { return }
        self.carryOut(self.machines[head.conv]?.headAdvanced(head: head.seq, floor: head.minSeq) ?? .doNothing, in: head.conv)
    }

    /// Stores a head and creates the conversation's machine.
    @discardableResult
    func adopt(_ head: ChatHead) -> Bool {
        let stored: Void? = self.storing { () throws(ChatClientError) in try self.store.save(heads: [head]) }
        guard stored != nil else { return false }
        self.ensureMachine(head.conv)
        self.announce(head.conv)
        return true
    }

    /// Handles a pushed event, or an own event after its acknowledgement.
    func received(_ event: ChatEvent) {
        guard self.machines[event.conv] != nil else {
            // An unknown conversation: the answer to the pull contains the head and this event.
            var machine = Machine(configuration: self.configuration.sync)
            let action = machine.headAdvanced(head: event.seq, floor: 0)
            self.machines[event.conv] = machine
            self.unknown.insert(event.conv)
            self.carryOut(action, in: event.conv)
            return
        }
        guard !self.unknown.contains(event.conv) else {
            _ = self.machines[event.conv]?.headAdvanced(head: event.seq, floor: 0)
            return
        }
        switch self.machines[event.conv]?.received(event) {
        case .apply(let events): self.apply(events, gap: nil, in: event.conv)
        case .wait(let delay): self.carryOut(.wait(delay), in: event.conv)
        case .ignore, .hold, nil: break
        }
    }

    private func ensureMachine(_ conversation: ConversationID) {
        self.unknown.remove(conversation)
        guard self.machines[conversation] == nil else { return }
        let loaded = self.storing { () throws(ChatClientError) in try self.loadMachine(conversation) }
        self.machines[conversation] = loaded.flatMap { $0 } ?? Machine(configuration: self.configuration.sync)
    }

    func carryOut(_ action: Machine.HeadAction, in conversation: ConversationID) {
        switch action {
        case .pull(let request):
            self.pullsWaiting.append((conversation, request))
            self.startPulls()
        case .wait(let delay):
            self.after(delay) { engine in
                engine.carryOut(engine.machines[conversation]?.holeTimerFired() ?? .doNothing, in: conversation)
            }
        case .doNothing: break
        }
    }

    // MARK: Pulls

    private func startPulls() {
        while self.pullsRunning < max(1, self.configuration.maximumPulls), !self.pullsWaiting.isEmpty {
            let (conversation, request) = self.pullsWaiting.removeFirst()
            let generation = self.generation
            self.pullsRunning += 1
            self.start { await self.pull(request, in: conversation, generation) }
        }
    }

    private func pull(_ request: SyncPullRequest, in conversation: ConversationID, _ generation: Int) async {
        do throws(ChatClientError) {
            let reply = try await self.ask(ChatVerb.sync, SyncRequest(request, in: conversation), as: EventsReply.self)
            self.pullsRunning -= 1
            if reply.head.conv == conversation, self.adopt(reply.head) {
                self.received(reply, for: request, in: conversation)
            }
        } catch {
            self.pullsRunning -= 1
            guard self.generation == generation else { return self.startPulls() }
            self.logger.debug("A pull failed", metadata: ["chat.conversation": "\(conversation)", "chat.error": "\(error)"])
            self.carryOut(self.machines[conversation]?.pullFailed() ?? .doNothing, in: conversation)
        }
        self.startPulls()
    }

    private func received(_ reply: EventsReply, for request: SyncPullRequest, in conversation: ConversationID) {
        let page = reply.events.filter { $0.conv == conversation }
        guard
            case .apply(let events, let gap, let next)? = self.machines[conversation]?.received(
                page: page, head: reply.head.seq, for: request)
        else { return }
        // After a failure of the store, the machine was reloaded and has its own next action.
        if self.apply(events, gap: gap, in: conversation) { self.carryOut(next, in: conversation) }
    }

    // MARK: Applying

    /// Stores events released by the machine, then announces them. If the store fails, the machine
    /// is reloaded from the store.
    @discardableResult
    func apply(_ events: [ChatEvent], gap: ClosedRange<Int64>?, in conversation: ConversationID) -> Bool {
        guard !events.isEmpty || gap != nil, let machine = self.machines[conversation] else { return true }
        let me = self.me
        let stored: Void? = self.storing { () throws(ChatClientError) in
            try self.store.apply(events, gap: gap, cursor: machine.cursor, in: conversation, me: me)
        }
        guard stored != nil else {
            self.recover(conversation, head: machine.head)
            return false
        }
        if let gap { self.broadcaster.yield(.gap(conversation, gap)) }
        for event in events {
            let isMine = event.sender == me && event.n != nil
            self.broadcaster.yield(.event(ChatMessage(event: event, delivery: isMine ? .sent : nil)))
            // The event confirms the message even if the acknowledgement was lost.
            if isMine { for id in self.outbox.settled(event.id) { self.transmit(id) } }
        }
        self.announce(conversation)
        return true
    }

    private func recover(_ conversation: ConversationID, head: Int64) {
        let loaded = self.storing { () throws(ChatClientError) in try self.loadMachine(conversation) }
        guard var machine = loaded.flatMap({ $0 }) else {
            // A restart or the next sync reloads the machine.
            self.machines[conversation] = nil
            return
        }
        // Waits before the next pull, because the store has just failed.
        let action = machine.headAdvanced(head: head, floor: 0)
        self.machines[conversation] = machine
        self.carryOut(action, in: conversation)
    }
}

extension SyncRequest {
    init(_ request: SyncPullRequest, in conversation: ConversationID) {
        switch request {
        case .page(let from, let limit): self = .forward(conv: conversation, from: from, limit: limit)
        case .window(let before, let limit): self = .backward(conv: conversation, before: before, limit: limit)
        }
    }
}
