import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import NIOConcurrencyHelpers
import NIOCore

/// Decides and commits the commands of all sessions, in batches.
///
/// A batch contains the commands that arrived while the previous one was written. The writer never
/// waits for further commands. After the commit, the answers of the batch are sent, and with or
/// after them the pushes.
///
/// Confined to a dedicated event loop, which it blocks while a batch is synced to disk.
final class LogWriter {
    let storage: any MaintainedStorage
    private let eventLoop: any EventLoop
    private let submissions: NIOLockedValueBox<[Submission]>
    private let environment: ChatLog.Environment
    private let rules: ChatRules
    private let onBatch: ChatLog.BatchHandler
    private let onHealth: @Sendable (Committer.Health) -> Void
    private let onRecovery: @Sendable () -> Void
    private var sequencer = Sequencer()
    private var committer = Committer()
    private var waiting: [Int64: Answers.Recipient] = [:]
    private var answers = Answers()
    /// An empty array whose memory is reused for the next submissions.
    private var spare: [Submission] = []
    private var lastNumber: Int64 = 0
    private var isTurnScheduled = false
    private var isClosed = false

    init(
        storage: any MaintainedStorage, eventLoop: any EventLoop, submissions: NIOLockedValueBox<[Submission]>,
        environment: ChatLog.Environment, rules: ChatRules,
        onBatch: @escaping ChatLog.BatchHandler, onHealth: @escaping @Sendable (Committer.Health) -> Void,
        onRecovery: @escaping @Sendable () -> Void
    ) {
        self.storage = storage
        self.eventLoop = eventLoop
        self.submissions = submissions
        self.environment = environment
        self.rules = rules
        self.onBatch = onBatch
        self.onHealth = onHealth
        self.onRecovery = onRecovery
    }

    /// Takes the commands that were submitted since the last call.
    func takeSubmissions() {
        var taken = self.spare
        self.spare = []
        self.submissions.withLockedValue { swap(&$0, &taken) }
        for submission in taken { self.take(submission) }
        taken.removeAll(keepingCapacity: true)
        self.spare = taken
        self.answers.give()
        if self.sequencer.count > 0 { self.scheduleTurn() }
    }

    private func take(_ submission: Submission) {
        let recipient = Answers.Recipient(eventLoop: submission.eventLoop, completion: submission.completion)
        guard !self.isClosed else { return self.answers.add(.failure(.closing), for: recipient) }
        self.lastNumber += 1
        if let refusal = self.sequencer.enqueue(submission.command, number: self.lastNumber) {
            self.answers.add(.failure(refusal), for: recipient)
        } else {
            self.waiting[self.lastNumber] = recipient
        }
    }

    /// Writes the waiting commands, and refuses later ones.
    func close() {
        self.takeSubmissions()
        self.isClosed = true
        while self.sequencer.count > 0 { self.writeBatch() }
    }

    // MARK: Batches

    private func scheduleTurn() {
        guard !self.isTurnScheduled else { return }
        self.isTurnScheduled = true
        // The batch is written in a later turn of the event loop, so that it includes the commands
        // that were already scheduled.
        self.eventLoop.assumeIsolated().execute {
            self.isTurnScheduled = false
            self.writeBatch()
            if self.sequencer.count > 0 { self.scheduleTurn() }
        }
    }

    private func writeBatch() {
        guard self.sequencer.count > 0 else { return }
        switch self.committer.commandsWait() {
        case .writeBatch: self.write(self.sequencer.takeBatch()[...])
        case .refuseAll(let error): self.refuseAll(error)
        case .wait: break
        }
        self.answers.give()
    }

    private func write(_ entries: ArraySlice<Sequencer.Entry>) {
        var needs = Needs()
        for entry in entries { entry.command.addNeeds(to: &needs) }
        while true {
            do throws(StorageError) {
                let start = self.environment.monotonic()
                let time = self.environment.read().time
                var decider = BatchDecider(facts: try self.storage.begin(needs), at: time, rules: self.rules)
                let decisions = entries.map { decider.decide($0.command) }
                let batch = decider.finish()
                self.sequencer.decided(in: self.environment.monotonic() - start)
                _ = try self.storage.commit(batch.changes)
                guard self.committer.batchWritten() == .acknowledge else { return }
                for (entry, decision) in zip(entries, decisions) { self.complete(entry, decision.result) }
                self.onBatch(batch, self.answers.take())
                // After a failed checkpoint, the next batch fails and its commands are refused.
                try? self.storage.checkpointIfDue()
                return
            } catch {
                self.storage.abandon()
                guard self.retries(after: error, entries) else { return }
            }
        }
    }

    /// Returns whether a failed batch is decided again. If not, its commands have been answered.
    private func retries(after error: StorageError, _ entries: ArraySlice<Sequencer.Entry>) -> Bool {
        let refusal: ChatError
        switch self.committer.batchFailed(error.code, commands: entries.count) {
        case .decideAgain: return true
        case .decideHalves:
            let middle = entries.startIndex + entries.count / 2
            self.writePart(entries[..<middle])
            self.writePart(entries[middle...])
            return false
        case .refuseBatch(let error): refusal = error
        case .becomeReadOnly(let error, let delay):
            refusal = error
            self.scheduleProbe(in: delay)
        case .fail(let error): refusal = error
        case .doNothing: return false
        }
        self.onHealth(self.committer.health)
        for entry in entries { self.complete(entry, .failure(refusal)) }
        return false
    }

    private func writePart(_ entries: ArraySlice<Sequencer.Entry>) {
        switch self.committer.commandsWait() {
        case .writeBatch: self.write(entries)
        case .refuseAll(let error): for entry in entries { self.complete(entry, .failure(error)) }
        case .wait: break
        }
    }

    private func refuseAll(_ error: ChatError) {
        while self.sequencer.count > 0 {
            for entry in self.sequencer.takeBatch() { self.complete(entry, .failure(error)) }
        }
    }

    private func complete(_ entry: Sequencer.Entry, _ result: Result<StoredAnswer, ChatError>) {
        if let recipient = self.waiting.removeValue(forKey: entry.number) { self.answers.add(result, for: recipient) }
    }

    // MARK: Recovery

    private func scheduleProbe(in delay: Duration) {
        self.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(delay)) { [weak self] in self?.probe() }
    }

    private func probe() {
        guard !self.isClosed else { return }
        var failure: StorageError.Code?
        do throws(StorageError) {
            switch self.committer.probeTimerFired() {
            case .write: try self.storage.probe()
            case .reopenAndWrite:
                try self.storage.recover()
                try self.storage.probe()
            case .doNothing: return
            }
        } catch {
            failure = error.code
        }
        switch self.committer.probeEnded(failure) {
        // The batch whose sync failed may now be stored, although its events were not pushed.
        case .resume: self.onRecovery()
        case .doNothing: break
        case .probeAgain(let delay): self.scheduleProbe(in: delay)
        }
        self.onHealth(self.committer.health)
    }
}

extension Decision {
    fileprivate var result: Result<StoredAnswer, ChatError> {
        switch self {
        case .accepted(let answer), .repeated(let answer): .success(answer)
        case .refused(let error): .failure(error)
        }
    }
}
