import ApusJSON
import ApusSocketIOProtocol
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The requests of one server that wait, and who waits for them: the shell around ``SocketIORequestTable``.
///
/// It serves a broadcast with acks on a server alone just as it serves the cluster.
final class PendingRequests: Sendable {
    /// One thing that came for a request.
    enum Reply: Sendable {
        case values([SocketIOValue])
        case value(SocketIOValue)
        case socket(SocketIOSocketDescription)
    }

    typealias Outcome = SocketIORequestTable<Reply>.Outcome
    typealias Action = SocketIORequestTable<Reply>.Action

    /// This server, in the cluster or alone.
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

    /// - Parameter eventLoop: Keeps the time. Default: one of the process-wide group.
    init(node: SocketIONodeID, maximumRequests: Int, eventLoop: (any EventLoop)?) {
        self.node = node
        self.eventLoop = eventLoop ?? MultiThreadedEventLoopGroup.singleton.any()
        self.state = NIOLockedValueBox(State(table: .init(maximumRequests: maximumRequests)))
    }

    /// The time, since some fixed moment.
    var now: Duration { .nanoseconds(Int64(clamping: self.eventLoop.now.uptimeNanoseconds)) }

    /// Starts a request and answers its id; `nil` when too many wait, and `completion` was told so.
    ///
    /// - Parameter completion: Called once, on any thread.
    func begin(timeout: Duration, completion: @escaping @Sendable (Result<Outcome, any Error>) -> Void) -> String? {
        let id = self.state.withLockedValue { state -> String? in
            // The node's name makes it unique in the cluster.
            let id = "\(self.node)-\(state.nextID)"
            guard state.table.begin(id) else { return nil }
            state.nextID &+= 1
            let timer = self.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [weak self] in
                guard let self else { return }
                self.act { $0.timedOut(id) }
            }
            state.waiters[id] = Waiter(timer: timer, completion: completion)
            return id
        }
        if id == nil {
            completion(.failure(SocketIOError(.bufferFull, message: "Too many requests of this server wait for answers already")))
        }
        return id
    }

    /// It is known who was asked, besides this server when it takes part.
    func asked(_ id: String, _ others: SocketIOClusterServers, andSelf: Bool) {
        let asked: SocketIOClusterServers =
            switch others {
            case .count(let count): .count(andSelf && count < .max ? count + 1 : count)
            case .nodes(let nodes): .nodes(andSelf ? nodes.union([self.node]) : nodes)
            }
        self.act { $0.asked(id, asked) }
    }

    func reported(_ id: String, from node: SocketIONodeID?, announcing count: Int, _ replies: [Reply] = []) {
        self.act { $0.received(id, reportFrom: node, announcing: count, replies) }
    }

    func replied(_ id: String, from node: SocketIONodeID?, _ reply: Reply?) {
        self.act { $0.received(id, replyFrom: node, reply) }
    }

    func left(_ node: SocketIONodeID) {
        for action in self.state.withLockedValue({ $0.table.left(node) }) { self.perform(action) }
    }

    /// Nobody waits any more.
    func cancel(_ id: String) {
        let isWaiting = self.state.withLockedValue { $0.table.cancel(id) }
        if isWaiting { self.finish(id, .failure(CancellationError())) }
    }

    /// Calls `body` after so long, with nobody waiting for it.
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
    /// Starts a request and waits for its end; cancelling the task ends the wait.
    ///
    /// - Parameter start: Asks, given the id. What it throws ends the request.
    func request(timeout: Duration, _ start: @Sendable (String) throws -> Void) async throws -> Outcome {
        let wait = NIOLockedValueBox<(id: String?, isCancelled: Bool)>((nil, false))
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Outcome, any Error>) in
                guard let id = self.begin(timeout: timeout, completion: { continuation.resume(with: $0) }) else { return }
                let isCancelled = wait.withLockedValue { wait in
                    wait.id = id
                    return wait.isCancelled
                }
                guard !isCancelled else { return self.cancel(id) }
                do { try start(id) } catch { self.fail(id, error) }
            }
        } onCancel: {
            let id = wait.withLockedValue { wait in
                wait.isCancelled = true
                return wait.id
            }
            if let id { self.cancel(id) }
        }
    }

    /// The request could not even be asked.
    func fail(_ id: String, _ error: any Error) {
        let isWaiting = self.state.withLockedValue { $0.table.cancel(id) }
        if isWaiting { self.finish(id, .failure(error)) }
    }
}
