package import ApusChatProtocol

/// Decides when each stored message is sent.
///
/// Each conversation has one message in flight at a time. The next one is sent after the answer to
/// it, so the order survives lost acks, reconnections and restarts. A retry carries the same id, by
/// which the server recognizes it. A message whose media is still on its way lets later ones
/// overtake it and is sent when the upload is complete.
///
/// The machine holds ids only; the messages stay in the store.
package struct ClientOutbox: Sendable {
    private enum State {
        /// The next message can be sent. Leaves to `inFlight` (connected).
        case ready
        /// A message is in flight. Leaves to `ready` (answered, disconnected) or `backingOff`
        /// (failed temporarily).
        case inFlight(ClientID)
        /// The message failed temporarily. Leaves to `ready` (timer, connected).
        case backingOff
    }

    private struct Queue {
        var state: State = .ready
        /// Messages that can be sent, oldest first.
        var ready: [ClientID] = []
        /// Messages whose upload is not complete.
        var uploading: Set<ClientID> = []
        /// Failures since the last answer.
        var failures = 0
        var isEmpty: Bool { self.ready.isEmpty && self.uploading.isEmpty }
    }

    private let maximumInFlight: Int
    private var isConnected = false
    private var queues: [ConversationID: Queue] = [:]
    /// The conversations with messages in the order of their turns, so that none starves.
    private var order: [ConversationID] = []
    private var conversations: [ClientID: ConversationID] = [:]
    private var inFlightCount = 0

    /// - Parameter maximumInFlight: The number of conversations that send at the same time.
    package init(maximumInFlight: Int = 8) { self.maximumInFlight = max(1, maximumInFlight) }

    /// The number of messages without a final answer.
    package var count: Int { self.conversations.count }

    /// The conversation of a message without a final answer.
    package func conversation(of id: ClientID) -> ConversationID? { self.conversations[id] }

    // MARK: Inputs

    /// Adds a stored message. At start, the shell calls this for every message in the store, oldest
    /// first.
    /// - Returns: The messages to send now.
    package mutating func enqueued(_ id: ClientID, in conversation: ConversationID, isUploading: Bool = false) -> [ClientID] {
        guard self.conversations.updateValue(conversation, forKey: id) == nil else { return [] }  // a repetition
        if self.queues[conversation] == nil { self.order.append(conversation) }
        if isUploading {
            self.queues[conversation, default: Queue()].uploading.insert(id)
        } else {
            self.queues[conversation, default: Queue()].ready.append(id)
        }
        return self.start()
    }

    /// The media of a message is complete.
    package mutating func uploaded(_ id: ClientID) -> [ClientID] {
        guard let conversation = self.conversations[id], self.queues[conversation]?.uploading.remove(id) != nil else { return [] }
        self.queues[conversation]?.ready.append(id)
        return self.start()
    }

    /// The session is open.
    package mutating func connected() -> [ClientID] {
        self.isConnected = true
        for conversation in self.order {
            // The delay belonged to the connection before.
            if case .backingOff = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
        return self.start()
    }

    /// The connection is lost. Messages in flight are sent again on the next one, whether or not
    /// the server received them.
    package mutating func disconnected() {
        self.isConnected = false
        self.inFlightCount = 0
        for conversation in self.order {
            if case .inFlight = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
    }

    /// The server stored or refused the message, or the user discarded it. Late and repeated calls
    /// are permitted.
    package mutating func settled(_ id: ClientID) -> [ClientID] {
        guard let conversation = self.conversations.removeValue(forKey: id), var queue = self.queues[conversation] else { return [] }
        let wasFirst = queue.ready.first == id
        if case .inFlight(id) = queue.state {
            self.inFlightCount -= 1
            queue.state = .ready
            queue.failures = 0
        } else if wasFirst, case .backingOff = queue.state {
            queue.state = .ready
            queue.failures = 0
        }
        queue.ready.removeAll { $0 == id }
        queue.uploading.remove(id)
        if queue.isEmpty {
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

    /// The attempt failed with a temporary error, for example a timeout or a full disk of the
    /// server.
    package mutating func failedForNow(_ id: ClientID) -> (action: FailedAction, send: [ClientID]) {
        guard let conversation = self.conversations[id], var queue = self.queues[conversation], case .inFlight(id) = queue.state
        else { return (.doNothing, []) }
        self.inFlightCount -= 1
        queue.failures += 1
        queue.state = .backingOff
        self.queues[conversation] = queue
        return (.rest(conversation, failures: queue.failures), self.start())
    }

    /// The delay after a failure has passed. Late and repeated calls are permitted.
    package mutating func restEnded(in conversation: ConversationID) -> [ClientID] {
        guard case .backingOff = self.queues[conversation]?.state else { return [] }
        self.queues[conversation]?.state = .ready
        return self.start()
    }

    private mutating func start() -> [ClientID] {
        guard self.isConnected else { return [] }
        var ids: [ClientID] = []
        for conversation in self.order where self.inFlightCount < self.maximumInFlight {
            guard case .ready = self.queues[conversation]?.state, let id = self.queues[conversation]?.ready.first else { continue }
            self.queues[conversation]?.state = .inFlight(id)
            self.inFlightCount += 1
            ids.append(id)
        }
        // Moves the served conversations to the end of the order.
        if !ids.isEmpty, self.order.count > self.maximumInFlight {
            let served = Set(ids.compactMap { self.conversations[$0] })
            self.order = self.order.filter { !served.contains($0) } + self.order.filter { served.contains($0) }
        }
        return ids
    }
}
