package import ApusChatProtocol
package import ApusChatStorage

/// Decides when a batch is written, and how a failure affects its commands and later ones.
///
/// The shell owns the storage and one writing thread. It sends the answers of a batch after
/// `batchWritten`, never before: an acknowledged command is on disk.
package struct Committer: Sendable {
    private enum State: Equatable {
        /// No batch is written. Transitions to `writing` when commands wait.
        case idle
        /// One batch is decided and written. Transitions to `idle`, or to `readOnly` or `failed`
        /// after a failure.
        case writing(attempt: Int)
        /// No batch is written because the storage failed. Transitions to `probing` (timer).
        case readOnly(Reason, probes: Int)
        /// The shell tests the storage. Transitions to `idle` (success), `readOnly` or `failed`.
        case probing(Reason, probes: Int)
        /// Final: the operator must repair the storage.
        case failed(StorageError.Code)
    }

    private enum Reason: Equatable {
        case full, io
    }

    /// The state of the storage, for the operator and for the readiness check.
    package enum Health: Sendable, Equatable {
        case writable
        /// Reads succeed and writes fail. The storage is tested periodically.
        case readOnly(StorageError.Code)
        /// Reads can succeed. The server does not recover without its operator.
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

    /// The next step when commands wait.
    package enum CommandsAction: Sendable, Equatable {
        /// Take a batch of commands; begin, decide and commit it.
        case writeBatch
        /// A batch is being written. The waiting commands are taken after it.
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

    /// The next step after a batch was written.
    package enum WrittenAction: Sendable, Equatable {
        /// Send the answers, then the pushes. Call `commandsWait` if there are further commands.
        case acknowledge
        /// No batch is being written, which is an error of the shell.
        case doNothing
    }

    package mutating func batchWritten() -> WrittenAction {
        guard case .writing = self.state else { return .doNothing }
        self.state = .idle
        return .acknowledge
    }

    /// The next step after a failure of `begin` or `commit`.
    package enum FailureAction: Sendable, Equatable {
        /// Begin and decide the same commands again, because another process has written to the
        /// storage.
        case decideAgain
        /// Write the two halves of the batch as separate batches, so that only the command that
        /// cannot be written is refused.
        case decideHalves
        /// Answer the commands of the batch with this error and continue.
        case refuseBatch(ChatError)
        /// Answer the commands of the batch with this error, and test the storage after the given
        /// time.
        case becomeReadOnly(ChatError, probeAfter: Duration)
        /// Answer the commands of the batch with this error. The operator must repair the storage.
        case fail(ChatError)
        case doNothing
    }

    /// Handles a failure of `begin` or `commit`.
    ///
    /// - Parameter commands: The number of commands of the batch.
    package mutating func batchFailed(_ code: StorageError.Code, commands: Int) -> FailureAction {
        guard case .writing(let attempt) = self.state else { return .doNothing }
        switch code {
        case .contention where attempt < Self.attempts:
            self.state = .writing(attempt: attempt + 1)
            return .decideAgain
        case .contention:
            self.state = .idle
            return .refuseBatch(
                ChatError(.storage, message: "The storage is busy. Send the request again with the same id.", retryAfter: 1_000))
        case .invalidUse where commands > 1:
            self.state = .idle
            return .decideHalves
        case .invalidUse:
            // The cause is an error of this program. It must not prevent later batches.
            self.state = .idle
            return .refuseBatch(
                ChatError(
                    .internal,
                    message: "The server could not store the request because of an internal error. Send it again with the same id."))
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

    /// The test of the storage that the shell performs.
    package enum ProbeAction: Sendable, Equatable {
        /// Write a test row and sync it to disk.
        case write
        /// Close the storage, open it again, then write and sync a test row. After a failed sync,
        /// the cached pages can differ from those on the disk.
        case reopenAndWrite
        case doNothing
    }

    package mutating func probeTimerFired() -> ProbeAction {
        guard case .readOnly(let reason, let probes) = self.state else { return .doNothing }
        self.state = .probing(reason, probes: probes)
        return reason == .full ? .write : .reopenAndWrite
    }

    /// The next step after a test of the storage.
    package enum ProbeEndAction: Sendable, Equatable {
        /// Batches can be written again.
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
        case .contention, .full, .io, .invalidUse:
            let next = failure == .io ? Reason.io : reason
            self.state = .readOnly(next, probes: probes + 1)
            return .probeAgain(after: Self.pause(before: probes + 1))
        }
    }

    private static let attempts = 4

    /// Returns the delay before a test: 1 s, 2 s, 4 s and so on, at most 30 s.
    private static func pause(before probe: Int) -> Duration { .seconds(min(1 << min(probe, 5), 30)) }

    private static func refusal(_ reason: Reason, probes: Int) -> ChatError {
        let wait = Self.pause(before: probes).components.seconds * 1_000
        return switch reason {
        case .full: ChatError(.storage, message: "The server's disk is full. Send the request again with the same id.", retryAfter: wait)
        case .io: ChatError(.unavailable, message: "The server cannot write. Send the request again with the same id.", retryAfter: wait)
        }
    }

    private static let failure = ChatError(.storage, message: "The server cannot write until its operator has repaired the storage.")
}
