import ApusChatCore
import ApusChatProtocol
import ApusChatStorage

// Batches: decided, committed, acknowledged, pushed.
extension Server {
    /// A place in a batch at which the server stops.
    enum Stop {
        case beforeCommit, afterCommit, afterAcks
    }

    /// What the disk does to a commit.
    enum DiskFault {
        case full
        case contention
        /// The sync failed. Whether the batch reached the disk is not known to the server.
        case io(isWritten: Bool)

        var code: StorageError.Code {
            switch self {
            case .full: .full
            case .contention: .contention
            case .io: .io
            }
        }
    }

    /// Writes one batch of the commands that wait.
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
                return
            } catch {
                self.storage.abandon()
                fault = nil
                switch self.committer.batchFailed(error.code, commands: entries.count) {
                case .decideAgain: continue
                // The simulated disk does not fail by misuse.
                case .decideHalves:
                    self.faults.append("a batch was misused: \(error)")
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

    /// Decides and commits. Nil if the server stops before the commit.
    private func decide(_ entries: [Sequencer.Entry], stop: Stop?, fault: DiskFault?) throws(StorageError)
        -> (decisions: [Decision], batch: DecidedBatch)?
    {
        var needs = Needs()
        for entry in entries { entry.command.addNeeds(to: &needs) }
        let time = self.stamps.stamp(wall: self.clock.wall, monotonic: self.clock.monotonic)
        var facts = try self.storage.begin(needs)
        var commands = entries.map(\.command)
        if self.bug == .retryByStoredBody { RetryByStoredBody.apply(to: &commands, &facts, self.storage) }
        var decider = BatchDecider(facts: facts, at: time, rules: self.rules)
        let decisions = commands.map { decider.decide($0) }
        let batch = decider.finish()
        if self.bug == .ackBeforeCommit {
            for (entry, decision) in zip(entries, decisions) { self.answer(entry, decision) }
        }
        if stop == .beforeCommit { return nil }
        if let fault {
            if case .io(isWritten: true) = fault {
                _ = try self.storage.commit(batch.changes)
                self.judge(entries, decisions, at: time)
            }
            throw StorageError(fault.code, message: "The disk failed.")
        }
        _ = try self.storage.commit(batch.changes)
        self.judge(entries, decisions, at: time)
        self.counts.batches += 1
        self.counts.commands += entries.count
        self.counts.events += batch.changes.events.count
        return (decisions, batch)
    }

    /// Shows committed commands to the oracle, which must come to the same decisions.
    private func judge(_ entries: [Sequencer.Entry], _ decisions: [Decision], at time: Int64) {
        for (entry, decision) in zip(entries, decisions) {
            let verdict = self.oracle.judge(entry.command, at: time)
            if verdict != Verdict(decision) {
                self.faults.append("the decision on \(entry.command.action) is \(decision) instead of \(verdict)")
            }
        }
    }

    private func refuse(_ entries: [Sequencer.Entry], _ error: ChatError) {
        for entry in entries { self.answer(entry, .refused(error)) }
    }

    private func answer(_ entry: Sequencer.Entry, _ decision: Decision) {
        guard let (connection, purpose) = self.purposes.removeValue(forKey: entry.ticket), connection.isOpenAtServer else { return }
        switch (decision, purpose) {
        case (.refused(let error), _): connection.down.append(.refused(error, purpose))
        case (.accepted(let answer), .mark), (.repeated(let answer), .mark):
            guard let row = self.storage.head(of: connection.user, in: answer.conversation) else { return }
            let head = self.head(row, to: connection.user)
            connection.down.append(
                .marked(
                    MarkAnswer(conversation: head.conversation, read: answer.n, unread: head.unread, mentions: head.mentions, n: head.n)))
        case (.accepted(let answer), _), (.repeated(let answer), _): connection.down.append(.answered(answer, purpose))
        }
    }

    /// Decides commands of the server itself as a batch of their own.
    func run(_ command: Command) {
        _ = self.sequencer.enqueue(command, ticket: 0)
        self.writeBatch()
    }

    func probe(life: Int, isWritable: Bool) {
        guard life == self.life, self.committer.probeTimerFired() != .doNothing else { return }
        switch self.committer.probeEnded(isWritable ? nil : .io) {
        case .probeAgain(let delay): self.agenda.add(.probe(life: life), at: self.clock.monotonic + delay.milliseconds)
        // The batch that failed may be on the disk, with members that left: all connections end.
        case .resume: self.endConnections()
        case .doNothing: break
        }
    }
}

extension Duration {
    var milliseconds: Int64 { self.components.seconds * 1_000 + self.components.attoseconds / 1_000_000_000_000_000 }
}
