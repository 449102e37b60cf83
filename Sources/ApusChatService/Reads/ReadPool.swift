package import ApusChatCore
package import ApusChatProtocol
package import ApusChatStorage
import NIOConcurrencyHelpers
import NIOPosix

/// Runs the reads of users on a few threads, in turn. The reads of one user delay the reads of
/// other users by at most one turn.
package final class ReadPool: Sendable {
    private struct Job: Sendable {
        /// Performs the job with the reader of a thread, or completes it with an error.
        let run: @Sendable (Result<any AccountReads, ChatError>) -> Void
    }

    /// `@unchecked Sendable` is safe because only one job at a time uses the object.
    private final class Reader: @unchecked Sendable {
        let reads: any AccountReads
        init(_ reads: any AccountReads) { self.reads = reads }
    }

    private struct State {
        var queue: FairQueue<Job>
        var idle: [Reader]
        var isClosed = false
    }

    private let state: NIOLockedValueBox<State>
    private let threads: NIOThreadPool

    /// - Parameters:
    ///   - count: The number of threads.
    ///   - open: Opens a reader of the storage for one thread. Called `count` times, on the thread
    ///     of the caller.
    package init(threads count: Int = 2, bounds: FairQueue<Void>.Bounds = .reads, _ open: () throws -> any AccountReads) rethrows {
        let readers = try (0..<max(1, count)).map { _ in Reader(try open()) }
        let queue = FairQueue<Job>(
            bounds: .init(underWay: bounds.underWay, waitingOfUser: bounds.waitingOfUser, waiting: bounds.waiting))
        self.state = .init(State(queue: queue, idle: readers))
        self.threads = NIOThreadPool(numberOfThreads: readers.count)
        self.threads.start()
    }

    /// Runs a read of a user on a consistent state of the storage. Calls the completion once, on
    /// any thread.
    package func read<Value: Sendable>(
        for user: UserKey, _ body: @escaping @Sendable (any AccountReads) throws -> Value,
        _ completion: @escaping @Sendable (Result<Value, ChatError>) -> Void
    ) {
        let job = Job { reads in
            switch reads {
            case .success(let reads): completion(Result { try reads.inSnapshot { try body(reads) } }.mapError(ChatError.init(reading:)))
            case .failure(let error): completion(.failure(error))
            }
        }
        let refusal = self.state.withLockedValue { state -> ChatError? in
            guard !state.isClosed else { return .closing }
            return switch state.queue.enqueue(job, for: user) {
            case .admitted: nil
            case .userFull:
                ChatError(.tooMany, message: "Too many requests of this account are waiting. Wait for their answers.", retryAfter: 1_000)
            case .full: ChatError(.unavailable, message: "The server is overloaded. Try again later.", retryAfter: 2_000)
            }
        }
        if let refusal { completion(.failure(refusal)) } else { self.dispatch() }
    }

    /// Runs a read of a user and waits for its result.
    package func read<Value: Sendable>(
        for user: UserKey, _ body: @escaping @Sendable (any AccountReads) throws -> Value
    ) async throws(ChatError) -> Value {
        try await withCheckedContinuation { continuation in
            self.read(for: user, body) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Refuses waiting and later reads, and stops the threads after the running reads.
    package func close() async {
        let waiting = self.state.withLockedValue { state -> [Job] in
            state.isClosed = true
            return state.queue.removeAll()
        }
        for job in waiting { job.run(.failure(.closing)) }
        try? await self.threads.shutdownGracefully()
    }

    private func dispatch() {
        let next = self.state.withLockedValue { state -> (UserKey, Job, Reader)? in
            guard !state.idle.isEmpty, let (user, job) = state.queue.next() else { return nil }
            return (user, job, state.idle.removeLast())
        }
        guard let (user, job, reader) = next else { return }
        self.threads.submit { state in
            job.run(state == .active ? .success(reader.reads) : .failure(.closing))
            self.state.withLockedValue { state in
                state.queue.finished(user)
                state.idle.append(reader)
            }
            self.dispatch()
        }
    }
}

extension ChatError {
    static let closing = ChatError(
        .unavailable, message: "The server is closing. Send the request again with the same id.", retryAfter: 2_000)

    /// Creates the error for a request whose read failed.
    init(reading error: any Error) {
        switch error {
        case let error as ChatError: self = error
        case let error as WireError: self.init(error)
        case is StorageError:
            self.init(.unavailable, message: "The server cannot read its data. Try again later.", retryAfter: 5_000)
        default: self.init(.internal, message: "The server failed to read the data for the answer.", retryAfter: 5_000)
        }
    }
}
