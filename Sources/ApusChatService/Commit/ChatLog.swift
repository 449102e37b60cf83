package import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import ApusEventLoop
package import ApusSocketIOServer
import NIOConcurrencyHelpers
package import NIOCore

/// The only writer of the chat. It can be used on any thread.
package final class ChatLog: Sendable {
    /// The clocks. Tests replace them.
    package struct Environment: Sendable {
        /// Returns the time of a monotonic clock, in milliseconds.
        package let monotonic: @Sendable () -> Int64
        private let wall: @Sendable () -> Int64
        private let stamps: NIOLockedValueBox<StampClock>

        /// - Parameters:
        ///   - wall: Returns the time of the wall clock, in milliseconds since 1970.
        ///   - monotonic: Returns the time of a monotonic clock, in milliseconds.
        ///   - mark: The last trusted time of an earlier run, in milliseconds since 1970. Default:
        ///     none.
        package init(wall: @escaping @Sendable () -> Int64, monotonic: @escaping @Sendable () -> Int64, mark: Int64? = nil) {
            self.wall = wall
            self.monotonic = monotonic
            self.stamps = .init(StampClock(wall: wall(), monotonic: monotonic(), mark: mark))
        }

        /// Returns the time for stamps, and whether the age of data can be computed from that time.
        package func read() -> StampClock.Reading {
            let (wall, monotonic) = (self.wall(), self.monotonic())
            return self.stamps.withLockedValue { $0.read(wall: wall, monotonic: monotonic) }
        }
    }

    /// Receives a committed batch, and the answers to its commands. It must send the answers before
    /// the pushes of the batch, or together with them.
    package typealias BatchHandler = @Sendable (DecidedBatch, SocketIODeliveries) -> Void

    private let writer: NIOLoopBoundBox<LogWriter>
    /// The submitted commands that the writer has not taken yet.
    private let submissions = NIOLockedValueBox<[Submission]>([])
    private let lastHealth = NIOLockedValueBox(Committer.Health.writable)

    /// - Parameters:
    ///   - storage: The storage. Only the log may write to it.
    ///   - eventLoop: A dedicated event loop. It is blocked while a batch is synced to disk.
    ///   - onBatch: Called on the event loop with each batch. It must not block.
    ///   - onRecovery: Called on the event loop when the storage accepts writes again after a
    ///     failure. A batch without acknowledgement may have been stored.
    package init(
        storage: sending any MaintainedStorage, on eventLoop: any EventLoop, environment: Environment, rules: ChatRules = ChatRules(),
        onBatch: @escaping BatchHandler, onRecovery: @escaping @Sendable () -> Void = {}
    ) {
        let writer = LogWriter(
            storage: storage, eventLoop: eventLoop, submissions: self.submissions, environment: environment, rules: rules, onBatch: onBatch,
            onHealth: { [lastHealth] health in lastHealth.withLockedValue { $0 = health } }, onRecovery: onRecovery)
        self.writer = .sending(writer, to: eventLoop)
    }

    /// The state of the storage: writable, read-only or failed.
    package var health: Committer.Health { self.lastHealth.withLockedValue { $0 } }

    /// Submits a command. Calls the completion once, after the commit or with the refusal.
    ///
    /// - Parameter eventLoop: The event loop on which the completion is called, together with other
    ///   completions of the same batch; nil for the event loop of the log.
    package func submit(
        _ command: Command, answeringOn eventLoop: (any EventLoop)? = nil,
        _ completion: @escaping @Sendable (Result<StoredAnswer, ChatError>) -> Void
    ) {
        let isFirst = self.submissions.withLockedValue { submissions in
            submissions.append(Submission(command: command, eventLoop: eventLoop, completion: completion))
            return submissions.count == 1
        }
        // One task on the event loop takes all commands that are submitted before the task runs.
        if isFirst { self.writer.eventLoop.execute { [writer] in writer.value.takeSubmissions() } }
    }

    /// Submits a command and waits for its answer. A cancellation does not withdraw the command.
    package func submit(_ command: Command) async throws(ChatError) -> StoredAnswer {
        try await withCheckedContinuation { continuation in self.submit(command) { continuation.resume(returning: $0) } }.get()
    }

    /// Calls `body` with the storage between two batches, on the event loop of the log.
    package func withStorage<Value: Sendable>(_ body: @escaping @Sendable (any MaintainedStorage) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            self.writer.onLoop { writer in continuation.resume(with: Result { try body(writer.storage) }) }
        }
    }

    /// Commits the waiting commands, and refuses all later ones.
    package func close() async {
        await withCheckedContinuation { continuation in
            self.writer.onLoop { writer in
                writer.close()
                continuation.resume()
            }
        }
    }
}
