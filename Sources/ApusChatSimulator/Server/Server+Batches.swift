import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Decides, commits, answers and pushes batches.
extension Server {
    /// The point in the processing of a batch at which the server stops.
    enum Stop {
        case beforeCommit, afterCommit, afterAcks
    }

    /// A fault of the disk during a commit.
    enum DiskFault {
        case full
        case contention
        /// The sync failed. The server cannot determine whether the batch was written.
        case io(isWritten: Bool)

        var code: StorageError.Code {
            switch self {
            case .full: .full
            case .contention: .contention
            case .io: .io
            }
        }
    }

    /// Writes one batch of waiting commands.
    func writeBatch(stop: Stop? = nil, fault: DiskFault? = nil) {
        guard self.sequencer.count > 0 else { return }
        switch self.committer.commandsWait() {
        case .wait: return
        case .refuseAll(let error):
            while self.sequencer.count > 0 {
                for entry in self.sequencer.takeBatch() { self.answer(entry, .refused(error)) }
            }
        case .writeBatch: self.write(self.sequencer.takeBatch(), stop: stop, fault: fault)
        }
    }

    private func write(_ entries: [Sequencer.Entry], stop: Stop?, fault: DiskFault?) {
        var fault = fault
        while true {
            do throws(StorageError) {
                guard let batch = try self.decide(entries, stop: stop, fault: fault) else { return self.restart() }
                guard self.committer.batchWritten() == .acknowledge else { return }
                if stop == .afterCommit { return self.restart() }
                for (entry, decision) in zip(entries, batch.decisions) { self.answer(entry, decision) }
                if stop == .afterAcks { return self.restart() }
                self.push(batch.batch)
                self.perform(self.calls.committed(batch.batch.calls, deleted: batch.batch.deleted, at: self.clock.monotonic))
                self.checkDevices(of: batch.batch.calls)
                return
            } catch {
                self.storage.abandon()
                fault = nil
                switch self.committer.batchFailed(error.code, commands: entries.count) {
                case .decideAgain: continue
                // The simulated disk never fails because of the content of a batch.
                case .decideHalves:
                    self.faults.append("the storage refused a batch: \(error)")
                    return
                case .refuseBatch(let error), .fail(let error): return self.refuse(entries, error)
                case .becomeReadOnly(let error, let delay):
                    self.agenda.add(.probe(life: self.life), at: self.clock.monotonic + delay.milliseconds)
                    return self.refuse(entries, error)
                case .doNothing: return
                }
            }
        }
    }

    /// Decides and commits a batch. Returns nil if the server stops before the commit.
    private func decide(_ entries: [Sequencer.Entry], stop: Stop?, fault: DiskFault?) throws(StorageError)
        -> (decisions: [Decision], batch: DecidedBatch)?
    {
        var needs = Needs()
        for entry in entries { entry.command.addNeeds(to: &needs) }
        let time = self.stamps.stamp(wall: self.clock.wall, monotonic: self.clock.monotonic)
        var facts = try self.storage.begin(needs)
        var commands = entries.map(\.command)
        self.bug?.spoil(&commands, &facts, self.storage)
        var decider = BatchDecider(facts: facts, at: time, rules: self.rules)
        let decisions = commands.map { decider.decide($0) }
        var batch = decider.finish()
        self.bug?.spoil(&batch.changes, self.oracle)
        if self.bug == .ackBeforeCommit {
            for (entry, decision) in zip(entries, decisions) { self.answer(entry, decision) }
        }
        if stop == .beforeCommit { return nil }
        if let fault {
            if case .io(isWritten: true) = fault {
                _ = try self.storage.commit(batch.changes)
                // The server does not learn which devices take part in the calls of this batch.
                let (callers, absent) = (self.oracle.callers, self.oracle.absentCallers)
                self.judge(entries, decisions, at: time)
                (self.oracle.callers, self.oracle.absentCallers) = (callers, absent)
                self.hasUntold = true
            }
            self.coverage.note(.diskFault)
            throw StorageError(fault.code, message: "the disk failed")
        }
        _ = try self.storage.commit(batch.changes)
        self.judge(entries, decisions, at: time)
        self.counts.batches += 1
        self.counts.commands += entries.count
        self.counts.events += batch.changes.events.count
        return (decisions, batch)
    }

    /// Applies the committed commands to the oracle. Its decisions must equal those of the server.
    private func judge(_ entries: [Sequencer.Entry], _ decisions: [Decision], at time: Int64) {
        for (entry, decision) in zip(entries, decisions) {
            self.note(entry.command, decision)
            let verdict = self.oracle.judge(entry.command, at: time)
            if verdict != Verdict(decision) {
                self.faults.append("the decision on \(entry.command.action) is \(decision) instead of \(verdict)")
            }
        }
        self.faults += self.oracle.faults
        self.oracle.faults = []
    }

    private func note(_ command: Command, _ decision: Decision) {
        self.coverage.note(Verb(command), decision)
        switch (command.action, decision) {
        case (.remove(_, let users), .accepted), (.ban(_, let users, isOn: true, _), .accepted):
            if self.connections.values.contains(where: { $0.isCut && users.contains($0.user) }) { self.coverage.note(.removedWhileCut) }
        case (.send(let send), .refused):
            if self.oracle.books[send.conversation]?.settings.slow ?? 0 > 0, case .refused(let error) = decision, error.code == .tooMany {
                self.coverage.note(.slowRefusal)
            }
            let until = self.oracle.books[send.conversation]?.people[command.actor]?.silencedUntil ?? 0
            if until > self.clock.wall { self.coverage.note(.silencedRefusal) }
        case (.updateCall(_, let state), .accepted(let answer)) where command.actor == UserKey(0) && answer.seq > 0:
            self.coverage.note(state == .missed ? .unansweredCall : .abandonedCall)
        case (.finishErasure, .accepted): self.coverage.note(.erasedAccount)
        case (.joinByLink(let code), .refused):
            if let link = self.oracle.links[code], let limit = link.limit, link.uses >= limit { self.coverage.note(.exhaustedLink) }
        case (.setPreview, .accepted(let answer)) where answer.seq == 0: self.coverage.note(.voidPreview)
        case (.sendScheduled(let address, _), .accepted(let answer)) where answer.seq == 0:
            if self.oracle.plans[address] != nil { self.coverage.note(.failedSchedule) }
        default: break
        }
    }

    private func refuse(_ entries: [Sequencer.Entry], _ error: ChatError) {
        for entry in entries { self.answer(entry, .refused(error)) }
    }

    private func answer(_ entry: Sequencer.Entry, _ decision: Decision) {
        self.callReported(entry, decision)
        self.maintained(entry, decision)
        guard let (connection, purpose) = self.purposes.removeValue(forKey: entry.number), connection.isOpenAtServer else { return }
        switch (decision, purpose) {
        case (.refused(let error), _): connection.send(.refused(error, purpose))
        case (.accepted(let answer), .mark), (.repeated(let answer), .mark):
            guard let row = self.storage.head(of: connection.user, in: answer.conversation) else { return }
            let head = self.head(row, to: connection.user)
            connection.send(
                .marked(
                    MarkAnswer(conversation: head.conversation, read: head.read, unread: head.unread, mentions: head.mentions, n: head.n)))
        case (.accepted(let answer), _), (.repeated(let answer), _): connection.send(.answered(answer, purpose))
        }
    }

    func probe(life: Int, isWritable: Bool) {
        guard life == self.life, self.committer.probeTimerFired() != .doNothing else { return }
        switch self.committer.probeEnded(isWritable ? nil : .io) {
        case .probeAgain(let delay): self.agenda.add(.probe(life: life), at: self.clock.monotonic + delay.milliseconds)
        // The batch whose sync failed may have been written, and it may have removed members. All
        // connections are therefore closed.
        case .resume:
            self.endConnections()
            self.perform(self.calls.resume(self.storage.calls(limit: 10_000), at: self.clock.monotonic))
        case .doNothing: break
        }
    }
}

extension Duration {
    var milliseconds: Int64 { self.components.seconds * 1_000 + self.components.attoseconds / 1_000_000_000_000_000 }
}
