import ApusJSON
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The pending requests of one server, with their completions and timers, based on
/// ``SocketIORequestTable``.
///
/// A pending request is a broadcast that waits for acks, with or without a cluster, or a call of
/// `fetchSockets` or `serverSideEmitWithAck` that waits for other servers. A client's CONNECT and
/// an HTTP request are not pending requests.
final class PendingRequests: Sendable {
    /// One reply to a request.
    enum Reply: Sendable {
        case values([SocketIOValue])
        case value(SocketIOValue)
        case socket(SocketIOSocketDescription)
    }

    typealias Outcome = SocketIORequestTable<Reply>.Outcome
    typealias Action = SocketIORequestTable<Reply>.Action

    /// The id of this server, even without a cluster.
    let node: SocketIONodeID
    private let eventLoop: any EventLoop
    private let state: NIOLockedValueBox<State>

    private struct State {
        var table: SocketIORequestTable<Reply>
        var waiters: [String: Waiter] = [:]
        var nextID = 0
    }

    private struct Waiter {
        let timer: Scheduled<Void>
        let completion: @Sendable (Result<Outcome, any Error>) -> Void
    }

    /// - Parameter eventLoop: The event loop for the timers; `nil` for one of the process-wide
    ///   group.
    init(node: SocketIONodeID, maximumRequests: Int, eventLoop: (any EventLoop)?) {
        self.node = node
        self.eventLoop = eventLoop ?? MultiThreadedEventLoopGroup.singleton.any()
        self.state = NIOLockedValueBox(State(table: .init(maximumRequests: maximumRequests)))
    }

    /// The current time, as a duration since a fixed instant.
    var now: Duration { .nanoseconds(Int64(clamping: self.eventLoop.now.uptimeNanoseconds)) }

    /// Starts a pending request and returns its id. If the maximum number is pending, calls
    /// `completion` with `bufferFull` and returns `nil`.
    ///
    /// - Parameter completion: The closure to call once, on any thread, with the outcome.
    func begin(timeout: Duration, completion: @escaping @Sendable (Result<Outcome, any Error>) -> Void) -> String? {
        let id = self.state.withLockedValue { state -> String? in
            // The node's id makes the request id unique in the cluster.
            let id = "\(self.node)-\(state.nextID)"
            guard state.table.begin(id) else { return nil }
            state.nextID &+= 1
            let timer = self.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [weak self] in
                guard let self else { return }
                self.act { $0.deadlinePassed(id) }
            }
            state.waiters[id] = Waiter(timer: timer, completion: completion)
            return id
        }
        if id == nil {
            completion(
                .failure(
                    SocketIOError(
                        .bufferFull,
                        message:
                            "the server has reached the maximum number of pending requests (`maximumPendingRequests`)"
                    )))
        }
        return id
    }

    /// Sets the servers for which a pending request waits: `others` and, with `andSelf`, this
    /// server.
    func asked(_ id: String, _ others: SocketIOClusterServers, andSelf: Bool) {
        let asked: SocketIOClusterServers =
            switch others {
            case .count(let count): .count(andSelf && count < .max ? count + 1 : count)
            case .nodes(let nodes): .nodes(andSelf ? nodes.union([self.node]) : nodes)
            }
        self.act { $0.asked(id, asked) }
    }

    func reported(_ id: String, from node: SocketIONodeID?, announcing count: Int, _ replies: [Reply] = []) {
        self.act { $0.receivedReport(id, from: node, announcing: count, replies) }
    }

    func replied(_ id: String, from node: SocketIONodeID?, _ reply: Reply?) {
        self.act { $0.receivedReply(id, from: node, reply) }
    }

    func left(_ node: SocketIONodeID) {
        for action in self.state.withLockedValue({ $0.table.left(node) }) { self.perform(action) }
    }

    /// Ends a pending request whose caller was cancelled.
    func cancel(_ id: String) {
        let isWaiting = self.state.withLockedValue { $0.table.cancel(id) }
        if isWaiting { self.finish(id, .failure(CancellationError())) }
    }

    /// Calls `body` after `delay`. The call cannot be cancelled.
    func schedule(in delay: Duration, _ body: @escaping @Sendable () -> Void) {
        self.eventLoop.scheduleTask(in: TimeAmount(delay), body)
    }

    private func act(_ event: (inout SocketIORequestTable<Reply>) -> Action) {
        self.perform(self.state.withLockedValue { event(&$0.table) })
    }

    private func perform(_ action: Action) {
        switch action {
        case .complete(let id, let outcome): self.finish(id, .success(outcome))
        case .doNothing: break
        }
    }

    private func finish(_ id: String, _ result: Result<Outcome, any Error>) {
        guard let waiter = self.state.withLockedValue({ $0.waiters.removeValue(forKey: id) }) else { return }
        waiter.timer.cancel()
        waiter.completion(result)
    }
}

extension PendingRequests {
    /// Starts a request and waits for its end. Cancelling the task ends the wait.
    ///
    /// - Parameter start: A closure that sends the request with the given id. An error that it
    ///   throws ends the request.
    func request(timeout: Duration, _ start: @Sendable (String) throws -> Void) async throws -> Outcome {
        // `withLoopOperation` is not used: the request starts on the caller's thread, without a
        // hop.
        let begun = NIOLockedValueBox<String?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Outcome, any Error>) in
                guard let id = self.begin(timeout: timeout, completion: { continuation.resume(with: $0) }) else { return }
                begun.withLockedValue { $0 = id }
                guard !Task.isCancelled else { return self.cancel(id) }  // an earlier cancellation found no id
                do { try start(id) } catch { self.fail(id, error) }
            }
        } onCancel: {
            if let id = begun.withLockedValue({ $0 }) { self.cancel(id) }
        }
    }

    /// Fails a request that could not be sent.
    func fail(_ id: String, _ error: any Error) {
        let isWaiting = self.state.withLockedValue { $0.table.cancel(id) }
        if isWaiting { self.finish(id, .failure(error)) }
    }
}
