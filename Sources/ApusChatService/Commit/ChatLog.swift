package import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import ApusEventLoop
package import ApusSocketIOServer
import NIOConcurrencyHelpers
package import NIOCore

/// The one writer of the chat, for sessions on any thread.
package final class ChatLog: Sendable {
    /// The clocks, which tests replace.
    package struct Environment: Sendable {
        /// Milliseconds of a clock that never jumps.
        package let monotonic: @Sendable () -> Int64
        private let wall: @Sendable () -> Int64
        private let stamps: NIOLockedValueBox<StampClock>

        /// - Parameters:
        ///   - wall: Milliseconds since 1970, as the clock says.
        ///   - monotonic: Milliseconds of a clock that never jumps.
        ///   - mark: The last trusted time of an earlier run.
        package init(wall: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64, mark: Int64? = nil) {
            self.wall = wall
            self.monotonic = monotonic
            self.stamps = .init(StampClock(wall: wall(), monotonic: monotonic(), mark: mark))
        }

        /// The time for stamps, and whether ages may be judged by it.
        package func read() -> StampClock.Reading {
            let (wall, monotonic) = (self.wall(), self.monotonic())
            return self.stamps.withLockedValue { $0.read(wall: wall, monotonic: monotonic) }
        }
    }

    /// Takes a committed batch, and the answers of its commands, which it must send before or with
    /// what it tells of the batch.
    package typealias BatchHandler = @Sendable (DecidedBatch, SocketIODeliveries) -> Void

    private let writer: NIOLoopBoundBox<LogWriter>
    /// The commands that the writer has not taken.
    private let submissions = NIOLockedValueBox<[Submission]>([])
    private let lastHealth = NIOLockedValueBox(Committer.Health.writable)

    /// - Parameters:
    ///   - storage: The storage. Nothing else may write to it.
    ///   - eventLoop: A loop of its own: it is blocked while a batch is synced to disk.
    ///   - onBatch: Called on the loop with each batch. It must not block.
    ///   - onRecovery: Called on the loop when the storage takes writes again. A batch that was not
    ///     acknowledged may be stored.
    package init(
        storage: sending any MaintainedStorage, on eventLoop: any EventLoop, environment: Environment, rules: ChatRules = ChatRules(),
        onBatch: @escaping BatchHandler, onRecovery: @escaping @Sendable () -> Void = {}
    ) {
        let writer = LogWriter(
            storage: storage, eventLoop: eventLoop, submissions: self.submissions, environment: environment, rules: rules, onBatch: onBatch,
            onHealth: { [lastHealth] health in lastHealth.withLockedValue { $0 = health } }, onRecovery: onRecovery)
        self.writer = .sending(writer, to: eventLoop)
    }

    /// Whether the storage takes writes.
    package var health: Committer.Health { self.lastHealth.withLockedValue { $0 } }

    /// Submits a command. The completion is called once: after the commit, or with the refusal.
    ///
    /// - Parameter eventLoop: The event loop that the completion is called on, together with those
    ///   of the same batch; nil for that of the log.
    package func submit(
        _ command: Command, answeringOn eventLoop: (any EventLoop)? = nil,
        _ completion: @escaping @Sendable (Result<StoredAnswer, ChatError>) -> Void
    ) {
        let isFirst = self.submissions.withLockedValue { submissions in
            submissions.append(Submission(command: command, eventLoop: eventLoop, completion: completion))
            return submissions.count == 1
        }
        // One hop serves all commands that come before the writer takes them.
        if isFirst { self.writer.eventLoop.execute { [writer] in writer.value.takeSubmissions() } }
    }

    /// Submits a command and waits for its answer. Cancellation does not take it back.
    package func submit(_ command: Command) async throws(ChatError) -> StoredAnswer {
        try await withCheckedContinuation { continuation in self.submit(command) { continuation.resume(returning: $0) } }.get()
    }

    /// Calls `body` with the storage between two batches.
    package func withStorage<Value: Sendable>(_ body: @escaping @Sendable (any MaintainedStorage) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            self.writer.onLoop { writer in continuation.resume(with: Result { try body(writer.storage) }) }
        }
    }

    /// Writes the commands that wait, and refuses all later ones.
    package func close() async {
        await withCheckedContinuation { continuation in
            self.writer.onLoop { writer in
                writer.close()
                continuation.resume()
            }
        }
    }
}
