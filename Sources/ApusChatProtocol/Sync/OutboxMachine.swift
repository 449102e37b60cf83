/// Decides when each stored message is sent.
///
/// Each conversation has one message in flight at a time. The next one is sent after the answer to
/// it, so the order survives lost acknowledgements, reconnects and restarts. A retry carries the
/// same client id, by which the server recognizes it (docs/chat-rules.md, 1). Up to
/// ``OutboxConfiguration/maximumInFlight`` conversations send at the same time.
///
/// The machine holds ids only; the messages stay in the store. The shell sends the messages that an
/// action names and reports the result.
package struct OutboxMachine: Sendable {
    private enum State {
        /// The first message can be sent. Leaves to `inFlight` (connected).
        case ready
        /// The first message is in flight. Leaves to `ready` (answered, disconnected) or
        /// `backingOff` (failed temporarily).
        case inFlight
        /// The first message failed temporarily. Leaves to `ready` (timer, connected).
        case backingOff
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
    /// The conversations with queued messages in the order of their turns, so that none starves.
    private var order: [ConversationID] = []
    private var conversations: [ClientID: ConversationID] = [:]
    private var inFlightCount = 0

    package init(configuration: OutboxConfiguration = .init()) {
        self.configuration = configuration
    }

    /// The number of messages without a final answer.
    package var count: Int { self.conversations.count }

    // MARK: Inputs

    /// Enqueues a stored message. At start, the shell calls this for every message in the store,
    /// oldest first.
    /// - Returns: The messages to send now.
    package mutating func enqueued(_ id: ClientID, in conversation: ConversationID) -> [ClientID] {
        guard self.conversations.updateValue(conversation, forKey: id) == nil else { return [] }  // a duplicate id
        if self.queues[conversation] == nil { self.order.append(conversation) }
        self.queues[conversation, default: Queue()].ids.append(id)
        return self.start()
    }

    /// The connection is established and authenticated.
    package mutating func connected() -> [ClientID] {
        self.isConnected = true
        for conversation in self.order {
            // The delay belonged to the previous connection.
            if case .backingOff = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
        return self.start()
    }

    /// The connection is lost. Messages in flight are sent again on the next connection, whether or
    /// not the server received them.
    package mutating func disconnected() {
        self.isConnected = false
        self.inFlightCount = 0
        for conversation in self.order {
            if case .inFlight = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
    }

    // MARK: Answers

    /// The server stored or permanently refused the message, which leaves the outbox. Late and
    /// duplicate calls are permitted.
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
        /// Call ``restEnded(in:)`` after a delay that grows with the failures of this message.
        case rest(ConversationID, failures: Int)
        /// The message was answered, or the connection was lost, in the meantime.
        case doNothing
    }

    /// The attempt failed with a temporary error, for example a timeout or a full disk on the
    /// server.
    package mutating func failedForNow(_ id: ClientID) -> (action: FailedAction, send: [ClientID]) {
        guard let conversation = self.conversations[id], var queue = self.queues[conversation], queue.ids.first == id,
            case .inFlight = queue.state
        else { return (.doNothing, []) }
        self.inFlightCount -= 1
        queue.failures += 1
        queue.state = .backingOff
        self.queues[conversation] = queue
        return (.rest(conversation, failures: queue.failures), self.start())
    }

    /// The delay after a failure has elapsed. Late and duplicate calls are permitted.
    package mutating func restEnded(in conversation: ConversationID) -> [ClientID] {
        guard case .backingOff = self.queues[conversation]?.state else { return [] }
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
        // Moves the served conversations to the end of the order.
        if !ids.isEmpty, self.order.count > self.configuration.maximumInFlight {
            let served = Set(ids.compactMap { self.conversations[$0] })
            self.order = self.order.filter { !served.contains($0) } + self.order.filter { served.contains($0) }
        }
        return ids
    }
}
