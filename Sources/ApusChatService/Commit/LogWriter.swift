import ApusChatCore
import ApusChatProtocol
import ApusChatStorage
import ApusEventLoop
import NIOCore

/// Decides and writes the commands of all sessions, in batches.
///
/// A batch has the commands that arrived while the one before it was written; it never waits for
/// more. Its acks leave after its commit, its pushes after its acks.
///
/// Confined to an event loop of its own, which it blocks while a batch is synced to disk.
final class LogWriter {
    typealias Completion = @Sendable (Result<StoredAnswer, ChatError>) -> Void

    let storage: any MaintainedStorage
    private let eventLoop: any EventLoop
    private let environment: ChatLog.Environment
    private let rules: ChatRules
    private let onBatch: @Sendable (DecidedBatch) -> Void
    private let onHealth: @Sendable (Committer.Health) -> Void
    private let onRecovery: @Sendable () -> Void
    private var sequencer = Sequencer()
    private var committer = Committer()
    private var stamps: StampClock
    private var completions: [Int64: Completion] = [:]
    private var lastTicket: Int64 = 0
    private var isTurnScheduled = false
    private var isClosed = false

    init(
        storage: any MaintainedStorage, eventLoop: any EventLoop, environment: ChatLog.Environment, rules: ChatRules,
        onBatch: @escaping @Sendable (DecidedBatch) -> Void, onHealth: @escaping @Sendable (Committer.Health) -> Void,
        onRecovery: @escaping @Sendable () -> Void
    ) {
        self.storage = storage
        self.eventLoop = eventLoop
        self.environment = environment
        self.rules = rules
        self.onBatch = onBatch
        self.onHealth = onHealth
        self.onRecovery = onRecovery
        self.stamps = StampClock(wall: environment.wall(), monotonic: environment.monotonic())
    }

    func submit(_ command: Command, _ completion: @escaping Completion) {
        guard !self.isClosed else { return completion(.failure(.closing)) }
        self.lastTicket += 1
        let ticket = self.lastTicket
        if let refusal = self.sequencer.enqueue(command, ticket: ticket) { return completion(.failure(refusal)) }
        self.completions[ticket] = completion
        self.scheduleTurn()
    }

    /// Writes what waits, and refuses what comes later.
    func close() {
        self.isClosed = true
        while self.sequencer.count > 0 { self.writeBatch() }
    }

    // MARK: Batches

    private func scheduleTurn() {
        guard !self.isTurnScheduled else { return }
        self.isTurnScheduled = true
        // In a later turn, after the commands that the event loop already has.
        self.eventLoop.assumeIsolated().execute {
            self.isTurnScheduled = false
            self.writeBatch()
            if self.sequencer.count > 0 { self.scheduleTurn() }
        }
    }

    private func writeBatch() {
        guard self.sequencer.count > 0 else { return }
        switch self.committer.commandsWait() {
        case .writeBatch: self.write(self.sequencer.takeBatch())
        case .refuseAll(let error): self.refuseAll(error)
        case .wait: break
        }
    }

    private func write(_ entries: [Sequencer.Entry]) {
        var needs = Needs()
        for entry in entries { entry.command.addNeeds(to: &needs) }
        while true {
            do throws(StorageError) {
                let time = self.stamps.stamp(wall: self.environment.wall(), monotonic: self.environment.monotonic())
                var decider = BatchDecider(facts: try self.storage.begin(needs), at: time, rules: self.rules)
                let decisions = entries.map { decider.decide($0.command) }
                let batch = decider.finish()
                _ = try self.storage.commit(batch.changes)
                guard self.committer.batchWritten() == .acknowledge else { return }
                for (entry, decision) in zip(entries, decisions) { self.complete(entry, decision.result) }
                self.onBatch(batch)
                // A failure here makes the next batch fail, whose commands are then refused.
                try? self.storage.checkpointIfDue()
                return
            } catch {
                self.storage.abandon()
                guard self.retries(after: error, entries) else { return }
            }
        }
    }

    /// Whether a failed batch is decided again. Else its commands have been refused.
    private func retries(after error: StorageError, _ entries: [Sequencer.Entry]) -> Bool {
        let refusal: ChatError
        switch self.committer.batchFailed(error.code) {
        case .decideAgain: return true
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

    private func refuseAll(_ error: ChatError) {
        while self.sequencer.count > 0 {
            for entry in self.sequencer.takeBatch() { self.complete(entry, .failure(error)) }
        }
    }

    private func complete(_ entry: Sequencer.Entry, _ result: Result<StoredAnswer, ChatError>) {
        self.completions.removeValue(forKey: entry.ticket)?(result)
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
        // What a failed sync had written is stored now, and was told to no client.
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
