import ApusChatCore
import ApusChatProtocol

// The store of a device.
extension Device {
    func store(_ change: StoreChange) {
        switch change {
        case .events(let events, let asOf):
            guard let conversation = events.first?.conversation else { return }
            let asOf = asOf ?? events.last?.seq ?? 0
            for event in events { self.logs[conversation, default: DeviceLog()].put(event, asOf: asOf) }
            for event in events where event.n == nil || event.thread != nil { self.logs[conversation]?.apply(event) }
            self.received(events)
        case .head(let head):
            if self.heads.updateValue(head, forKey: head.conversation) == nil {
                let place = self.conversations.firstIndex { $0 > head.conversation } ?? self.conversations.count
                self.conversations.insert(head.conversation, at: place)
            }
        case .gone(let conversation):
            self.heads[conversation] = nil
            self.conversations.removeAll { $0 == conversation }
            self.logs[conversation] = nil
            self.gaps[conversation] = nil
            self.reads[conversation] = nil
            self.outbox.removeAll { $0.conversation == conversation }
            self.sent.removeAll { $0.conversation == conversation }
        case .token(let token): self.token = token
        case .epoch(let epoch): self.epoch = epoch
        case .requeue:
            self.acknowledged.removeAll { answered in self.sent.contains { $0.id == answered.id } }
            self.outbox = (self.sent + self.outbox).sorted { $0.number < $1.number }
            self.sent = []
        case .dropCache:
            self.heads = [:]
            self.conversations = []
            self.logs = [:]
            self.gaps = [:]
            self.reads = [:]
            self.token = nil
        case .sent(let id, let answer):
            guard let index = self.outbox.firstIndex(where: { $0.id == id }) else { return }
            let message = self.outbox.remove(at: index)
            self.acknowledged.append(Acknowledged(id: id, number: message.number, command: message.command, answer: answer))
            if self.logs[answer.conversation]?[answer.seq] == nil { self.sent.append(message) }
        case .refused(let id, let error):
            self.refused[id] = error.code
            self.outbox.removeAll { $0.id == id }
        case .read(let conversation, let n, let isConfirmed):
            if !isConfirmed {
                self.reads[conversation] = n
            } else if let read = self.reads[conversation], read <= n {
                self.reads[conversation] = nil
            }
        case .gap(let conversation, let range): self.gaps[conversation, default: []].append(range)
        case .expire(let now): for conversation in self.logs.keys { self.logs[conversation]?.expire(at: now) }
        case .peerRead: break
        }
    }

    /// Forgets the acknowledged messages that the log now contains.
    private func received(_ events: [ChatEvent]) {
        guard !self.sent.isEmpty else { return }
        let ids = Set(events.filter { $0.sender == self.name }.compactMap(\.id))
        self.sent.removeAll { ids.contains($0.id) }
    }

    /// Returns a missing event that the core did not report as a gap; nil if no such event is
    /// missing. The device would never request that event.
    func unannouncedHole(in conversation: ConversationID) -> Int64? {
        let gaps = self.gaps[conversation] ?? []
        let first = self.heads[conversation]?.minSeq ?? 0
        return self.logs[conversation]?.missing.first { seq in seq >= first && !gaps.contains { $0.contains(seq) } }
    }

    /// Stores a page of older events, and applies the later changes in the store to these events.
    /// An event does not replace a stored event to which more changes are applied.
    func fill(_ answer: HistoryAnswer) {
        guard self.heads[answer.conversation] != nil, var log = self.logs[answer.conversation] else { return }
        // A late page can precede the first event of a log that was restarted after the request.
        if let last = answer.events.last?.seq, let first = log.lowest, last + 1 < first {
            self.gaps[answer.conversation, default: []].append(last + 1...first - 1)
        }
        for event in answer.events where event.seq < log.last { log.put(event, asOf: answer.seq) }
        // The store can contain changes that are newer than the answer.
        if log.last > answer.seq {
            for seq in answer.seq + 1...log.last { if let change = log[seq], change.n == nil || change.thread != nil { log.apply(change) } }
        }
        self.logs[answer.conversation] = log
        self.received(answer.events)
    }
}
