import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Handles messages of the server, and performs the actions of the client core.
extension Device {
    func take(_ message: Message) {
        switch message {
        case .hello(let answer): self.carryOut(self.core.answered(hello: answer))
        case .helloRefused(let error): self.carryOut(self.core.failed(hello: error))
        case .sync(let answer): self.carryOut(self.core.answered(sync: answer))
        case .syncRefused(let error): self.carryOut(self.core.failed(sync: error))
        case .history(let answer, let request, let isScroll):
            if isScroll { self.fill(answer) } else { self.carryOut(self.core.answered(answer, to: request)) }
        case .historyRefused(let error, let request, let isScroll):
            if !isScroll { self.carryOut(self.core.failed(request, with: error)) }
        case .answered(let answer, let purpose): self.answered(answer, purpose)
        case .marked(let answer): self.carryOut(self.core.answered(answer))
        case .refused(let error, let purpose): self.refused(error, purpose)
        case .events(let push): self.pushed(push)
        case .heads(let push): self.carryOut(self.core.pushed(push))
        case .marks(let push): self.carryOut(self.core.pushed(push))
        }
    }

    private func answered(_ answer: StoredAnswer, _ purpose: Purpose) {
        switch purpose {
        case .send(let id):
            let conversation = ConversationID(number: answer.conversation.rawValue)
            let answer = SendAnswer(conversation: conversation, id: id, seq: answer.seq, n: answer.n, at: answer.at)
            self.carryOut(self.core.answered(answer))
        case .change(let id): self.changes.removeAll { $0.id == id }
        case .mark: break
        }
    }

    private func refused(_ error: ChatError, _ purpose: Purpose) {
        switch purpose {
        case .send(let id): self.carryOut(self.core.failed(send: id, with: error))
        case .mark(let request): self.carryOut(self.core.failed(request, with: error))
        case .change(let id):
            // A simulated user does not repeat a request whose retry delay exceeds a minute, or a
            // forward that slow mode refuses.
            let isForward = self.changes.contains { $0.id == id && $0.originals != nil }
            if !error.code.isTemporary || error.retryAfter ?? 0 > 60_000 || isForward && error.code == .tooMany {
                self.changes.removeAll { $0.id == id }
            }
        }
    }

    private func pushed(_ push: EventPush) {
        if self.bug == .earlyPushSkips, let first = push.events.first, self.logs[first.conversation] != nil,
            first.seq > self.core.cursor(of: first.conversation) + 1,
            let last = push.events.last
        {
            let request = HistoryRequest(conversation: first.conversation, range: .newest)
            let answer = HistoryAnswer(conversation: first.conversation, events: push.events, seq: last.seq)
            let actions = self.core.answered(answer, to: request)
            self.carryOut(actions.filter { action in if case .store(.gap) = action { false } else { true } })
            return
        }
        self.carryOut(self.core.pushed(push))
    }

    func carryOut(_ actions: [ClientAction]) {
        for action in actions {
            switch action {
            case .request(let request): self.send(request)
            case .store(let change): self.store(change)
            case .startTimer(let timer, let delay):
                guard let connection = self.connection else { continue }
                self.agenda.add(
                    .device(self.index, connection: connection.key, timer), at: self.clock.monotonic + delay.milliseconds)
            case .endSession: self.disconnected()
            }
        }
    }

    private func send(_ request: ClientRequest) {
        guard let connection = self.connection else { return }
        switch request {
        case .hello(let since, let epoch): connection.up.append(.hello(since: since, epoch: epoch))
        case .sync(let request): connection.up.append(.sync(request))
        case .history(let request): connection.up.append(.history(request, isScroll: false))
        case .send(let id, _):
            if let message = self.outbox.first(where: { $0.id == id }) {
                connection.up.append(.command(message.command, .send(id)))
            } else {
                self.carryOut(self.core.discarded(id))  // the message was removed with its conversation
            }
        case .mark(let request):
            let mark = MarkCommand(conversation: ConversationKey(request.conversation.number), read: request.read ?? 0)
            let command = Command(actor: self.user, device: DeviceKey(Int64(self.index)), request: nil, action: .mark(mark))
            connection.up.append(.command(command, .mark(request)))
        }
    }
}
