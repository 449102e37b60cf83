/// Decides which stored message goes out when.
///
/// Within a conversation one message at a time is on the wire and the next one starts after its answer: so the order survives lost acks,
/// reconnects and restarts, and a repetition always carries the same client id, which the server recognises (chat rule 1). Conversations do not
/// wait for each other, up to ``OutboxConfiguration/maximumInFlight``.
///
/// The machine holds ids only; the messages stay in the store. The shell sends what an action names and reports what became of it.
package struct OutboxMachine: Sendable {
    private enum State {
        /// The first message may be sent. Leaves to `inFlight` (connected).
        case ready
        /// The first message is on the wire. Leaves to `ready` (answered, disconnected) or `resting` (failed for now).
        case inFlight
        /// The first message failed for now. Leaves to `ready` (timer, connected).
        case resting
    }

    private struct Queue {
        var state: State = .ready
        var ids: [ClientID] = []
        /// Failures of the first message since it was last answered.
        var failures = 0
    }

    private let configuration: OutboxConfiguration
    private var isConnected = false
    private var queues: [ConversationID: Queue] = [:]
    /// Conversations in the order in which they came to have something to send, so that none starves.
    private var order: [ConversationID] = []
    private var conversations: [ClientID: ConversationID] = [:]
    private var inFlightCount = 0

    package init(configuration: OutboxConfiguration = .init()) {
        self.configuration = configuration
    }

    /// Messages not yet answered.
    package var count: Int { self.conversations.count }

    // MARK: Coming in

    /// A message was stored; also for every message found in the store at start, oldest first.
    /// - Returns: the messages to send now.
    package mutating func enqueued(_ id: ClientID, in conversation: ConversationID) -> [ClientID] {
        guard self.conversations.updateValue(conversation, forKey: id) == nil else { return [] }  // the same id twice is one message
        if self.queues[conversation] == nil { self.order.append(conversation) }
        self.queues[conversation, default: Queue()].ids.append(id)
        return self.start()
    }

    /// The connection is there and the server knows us.
    package mutating func connected() -> [ClientID] {
        self.isConnected = true
        for conversation in self.order {
            // A rest was made for the old connection.
            if case .resting = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
        return self.start()
    }

    /// The connection is gone. What was on the wire is sent again, whether or not it arrived.
    package mutating func disconnected() {
        self.isConnected = false
        self.inFlightCount = 0
        for conversation in self.order {
            if case .inFlight = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
    }

    // MARK: Answers

    /// The server has the message, or refuses it for good: either way it leaves the outbox. Late and doubled calls are legal.
    package mutating func settled(_ id: ClientID) -> [ClientID] {
        guard let conversation = self.conversations.removeValue(forKey: id), var queue = self.queues[conversation] else { return [] }
        if queue.ids.first == id {
            if case .inFlight = queue.state { self.inFlightCount -= 1 }
            queue.state = .ready
            queue.failures = 0
        }
        queue.ids.removeAll { $0 == id }
        if queue.ids.isEmpty {
            self.queues[conversation] = nil
            self.order.removeAll { $0 == conversation }
        } else {
            self.queues[conversation] = queue
        }
        return self.start()
    }

    package enum FailedAction: Equatable {
        /// Call ``restEnded(in:)`` after a time that grows with the failures of this message.
        case rest(ConversationID, failures: Int)
        /// Answered or disconnected meanwhile.
        case doNothing
    }

    /// The attempt failed in a way that may pass: a deadline, a full disk on the server.
    package mutating func failedForNow(_ id: ClientID) -> (action: FailedAction, send: [ClientID]) {
        guard let conversation = self.conversations[id], var queue = self.queues[conversation], queue.ids.first == id,
            case .inFlight = queue.state
        else { return (.doNothing, []) }
        self.inFlightCount -= 1
        queue.failures += 1
        queue.state = .resting
        self.queues[conversation] = queue
        return (.rest(conversation, failures: queue.failures), self.start())
    }

    /// The time of a rest is over. Late and doubled calls are legal.
    package mutating func restEnded(in conversation: ConversationID) -> [ClientID] {
        guard case .resting = self.queues[conversation]?.state else { return [] }
        self.queues[conversation]?.state = .ready
        return self.start()
    }

    private mutating func start() -> [ClientID] {
        guard self.isConnected else { return [] }
        var ids: [ClientID] = []
        for conversation in self.order where self.inFlightCount < max(1, self.configuration.maximumInFlight) {
            guard case .ready = self.queues[conversation]?.state, let id = self.queues[conversation]?.ids.first else { continue }
            self.queues[conversation]?.state = .inFlight
            self.inFlightCount += 1
            ids.append(id)
        }
        // Who was served goes to the end of the line.
        if !ids.isEmpty, self.order.count > self.configuration.maximumInFlight {
            let served = Set(ids.compactMap { self.conversations[$0] })
            self.order = self.order.filter { !served.contains($0) } + self.order.filter { served.contains($0) }
        }
        return ids
    }
}
