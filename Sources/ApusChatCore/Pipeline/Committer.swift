package import ApusChatProtocol
package import ApusChatStorage

/// Decides when a batch is written, and what a failure means for its commands and for those after
/// it.
///
/// The shell owns the storage and one writing thread. Acks leave after `batchWritten`, never
/// before: what was acknowledged is on disk.
package struct Committer: Sendable {
    private enum State: Equatable {
        /// Leaves to `writing` when commands wait.
        case idle
        /// One batch is decided and written. Leaves to `idle`, or to `readOnly` by a failure.
        case writing(attempt: Int)
        /// Nothing is written. A timer leads to `probing`.
        case readOnly(Reason, probes: Int)
        /// The shell tests the storage. Leaves to `idle` or back to `readOnly`.
        case probing(Reason, probes: Int)
        /// Final: the operator has to act.
        case failed(StorageError.Code)
    }

    private enum Reason: Equatable {
        case full, io
    }

    /// What the operator sees, and what readiness depends on.
    package enum Health: Sendable, Equatable {
        case writable
        /// Reads work, writes do not. The storage is tested again and again.
        case readOnly(StorageError.Code)
        /// Reads may work. The server does not recover by itself.
        case failed(StorageError.Code)
    }

    private var state = State.idle

    package init() {}

    package var health: Health {
        switch self.state {
        case .idle, .writing: .writable
        case .readOnly(let reason, _), .probing(let reason, _): .readOnly(reason == .full ? .full : .io)
        case .failed(let code): .failed(code)
        }
    }

    /// What the shell does with commands that wait.
    package enum CommandsAction: Sendable, Equatable {
        /// Take a batch, begin, decide and commit it.
        case writeBatch
        /// A batch is under way; its end takes what arrived.
        case wait
        /// Answer all waiting commands with this error.
        case refuseAll(ChatError)
    }

    package mutating func commandsWait() -> CommandsAction {
        switch self.state {
        case .idle:
            self.state = .writing(attempt: 1)
            return .writeBatch
        case .writing: return .wait
        case .readOnly(let reason, let probes), .probing(let reason, let probes):
            return .refuseAll(Self.refusal(reason, probes: probes))
        case .failed: return .refuseAll(Self.failure)
        }
    }

    /// What follows a written batch.
    package enum WrittenAction: Sendable, Equatable {
        /// Send the acks, then the pushes. Then ask `commandsWait` if there are commands.
        case acknowledge
        /// The batch is not the one that is under way: a fault of the shell.
        case doNothing
    }

    package mutating func batchWritten() -> WrittenAction {
        guard case .writing = self.state else { return .doNothing }
        self.state = .idle
        return .acknowledge
    }

    /// What follows a failure of `begin` or `commit`.
    package enum FailureAction: Sendable, Equatable {
        /// Begin and decide the same commands again: another writer won.
        case decideAgain
        /// Write the two halves of the batch as batches of their own, so that the command that
        /// cannot be written fails alone.
        case decideHalves
        /// Answer the commands of the batch with this error and go on.
        case refuseBatch(ChatError)
        /// Answer the commands of the batch with this error, and test the storage after a time.
        case becomeReadOnly(ChatError, probeAfter: Duration)
        /// Answer with this error. The server needs its operator.
        case fail(ChatError)
        case doNothing
    }

    /// - Parameter commands: The number of commands of the batch.
    package mutating func batchFailed(_ code: StorageError.Code, commands: Int) -> FailureAction {
        guard case .writing(let attempt) = self.state else { return .doNothing }
        switch code {
        case .contention where attempt < Self.attempts:
            self.state = .writing(attempt: attempt + 1)
            return .decideAgain
        case .contention:
            self.state = .idle
            return .refuseBatch(ChatError(.storage, message: "The storage is busy. Send again with the same id.", retryAfter: 1_000))
        case .misuse where commands > 1:
            self.state = .idle
            return .decideHalves
        case .misuse:
            // A fault of this program. It must not stop the batches after this one.
            self.state = .idle
            return .refuseBatch(ChatError(.internal, message: "The server could not process the request."))
        case .full:
            self.state = .readOnly(.full, probes: 0)
            return .becomeReadOnly(Self.refusal(.full, probes: 0), probeAfter: Self.pause(before: 0))
        case .io:
            self.state = .readOnly(.io, probes: 0)
            return .becomeReadOnly(Self.refusal(.io, probes: 0), probeAfter: Self.pause(before: 0))
        case .corrupt, .newerSchema, .locked:
            self.state = .failed(code)
            return .fail(Self.failure)
        }
    }

    /// How the shell tests the storage.
    package enum ProbeAction: Sendable, Equatable {
        /// Write and sync a test row.
        case write
        /// Close the storage, open it again, then write and sync a test row: after a failed sync
        /// the cached pages are not those of the disk.
        case reopenAndWrite
        case doNothing
    }

    package mutating func probeTimerFired() -> ProbeAction {
        guard case .readOnly(let reason, let probes) = self.state else { return .doNothing }
        self.state = .probing(reason, probes: probes)
        return reason == .full ? .write : .reopenAndWrite
    }

    /// What follows the end of a test.
    package enum ProbeEndAction: Sendable, Equatable {
        /// Writing is possible again.
        case resume
        case probeAgain(after: Duration)
        case doNothing
    }

    package mutating func probeEnded(_ failure: StorageError.Code?) -> ProbeEndAction {
        guard case .probing(let reason, let probes) = self.state else { return .doNothing }
        switch failure {
        case nil:
            self.state = .idle
            return .resume
        case .corrupt, .newerSchema, .locked:
            self.state = .failed(failure ?? .corrupt)
            return .doNothing
        case .contention, .full, .io, .misuse:
            let next = failure == .io ? Reason.io : reason
            self.state = .readOnly(next, probes: probes + 1)
            return .probeAgain(after: Self.pause(before: probes + 1))
        }
    }

    private static let attempts = 4

    /// 1 s, 2 s, 4 s and so on, at most 30 s.
    private static func pause(before probe: Int) -> Duration { .seconds(min(1 << min(probe, 5), 30)) }

    private static func refusal(_ reason: Reason, probes: Int) -> ChatError {
        let wait = Self.pause(before: probes).components.seconds * 1_000
        return switch reason {
        case .full: ChatError(.storage, message: "The server's disk is full. Send again with the same id.", retryAfter: wait)
        case .io: ChatError(.unavailable, message: "The server cannot write. Send again with the same id.", retryAfter: wait)
        }
    }

    private static let failure = ChatError(.storage, message: "The server cannot write until its operator has repaired it.")
}
