package import ApusChatProtocol

/// Decides when each stored message is sent.
///
/// Each conversation has at most one pending `send` request. The next message is sent after its
/// answer, so that the order is kept after lost answers, reconnections and restarts. A retry has
/// the same id, by which the server recognizes it. A message whose file is still being uploaded
/// does not delay later messages without a file. Messages with files are sent in their order.
///
/// An acknowledged message is kept until the log contains it. A server that was restored from a
/// backup may have lost it; it is then sent again (``requeue()``).
///
/// The state machine contains ids only; the store contains the messages.
package struct ClientOutbox: Sendable {
    private enum State {
        /// No request is pending. Transitions to `inFlight` (connected).
        case ready
        /// A `send` request is pending. Transitions to `ready` (answered, discarded, disconnected)
        /// or `backingOff` (temporary failure).
        case inFlight(ClientID)
        /// The last request failed temporarily. Transitions to `ready` (timer, connected,
        /// discarded).
        case backingOff
    }

    private struct Queue {
        var state: State = .ready
        /// The messages that can be sent, oldest first.
        var ready: [ClientID] = []
        /// The messages with files that wait for their upload or an earlier one, oldest first.
        var files: [ClientID] = []
        /// The messages of `files` whose upload is complete.
        var uploaded: Set<ClientID> = []
        /// The number of failures since the last answer.
        var failures = 0
        var isEmpty: Bool { self.ready.isEmpty && self.files.isEmpty }

        /// Moves messages from the start of `files` to `ready`, up to the first one whose upload is
        /// not complete.
        mutating func advance() {
            while let first = self.files.first, self.uploaded.remove(first) != nil { self.ready.append(self.files.removeFirst()) }
        }
    }

    private let maximumInFlight: Int
    private var isConnected = false
    private var queues: [ConversationID: Queue] = [:]
    /// The conversations with messages, in the order in which they send next.
    private var order: [ConversationID] = []
    private var conversations: [ClientID: ConversationID] = [:]
    /// The acknowledged messages that the log does not contain.
    private var acknowledged: [ClientID: ConversationID] = [:]
    /// The position of each known message in the order of writing.
    private var places: [ClientID: Int] = [:]
    private var lastPlace = 0
    private var inFlightCount = 0

    /// - Parameter maximumInFlight: The number of conversations that send at the same time.
    package init(maximumInFlight: Int = 8) { self.maximumInFlight = max(1, maximumInFlight) }

    /// The number of messages without a final answer. Acknowledged messages are not included.
    package var count: Int { self.conversations.count }

    /// Returns the conversation of a message without a final answer.
    package func conversation(of id: ClientID) -> ConversationID? { self.conversations[id] }

    // MARK: Inputs

    /// Adds a stored message. At start, `ClientCore.restore` calls it for each unsent message that
    /// was not refused, oldest first.
    /// - Returns: The messages to send now.
    package mutating func enqueued(_ id: ClientID, in conversation: ConversationID, isUploading: Bool = false) -> [ClientID] {
        guard self.conversations[id] == nil, self.acknowledged[id] == nil else { return [] }  // a repetition
        self.conversations[id] = conversation
        self.place(id)
        if self.queues[conversation] == nil { self.order.append(conversation) }
        if isUploading {
            self.queues[conversation, default: Queue()].files.append(id)
        } else {
            self.queues[conversation, default: Queue()].ready.append(id)
        }
        return self.start()
    }

    /// Adds a stored message that the server has acknowledged and that the log does not contain. At
    /// start, `ClientCore.restore` calls it in the order of writing.
    package mutating func restored(acknowledged id: ClientID, in conversation: ConversationID) {
        guard self.conversations[id] == nil, self.acknowledged[id] == nil else { return }
        self.acknowledged[id] = conversation
        self.place(id)
    }

    /// Records the completion of the upload of a message's file.
    package mutating func uploaded(_ id: ClientID) -> [ClientID] {
        guard let conversation = self.conversations[id], self.queues[conversation]?.files.contains(id) == true else { return [] }
        self.queues[conversation]?.uploaded.insert(id)
        self.queues[conversation]?.advance()
        return self.start()
    }

    /// Makes a message wait for another upload of its file, which the server has lost.
    package mutating func uploadsAgain(_ id: ClientID) -> [ClientID] {
        guard let conversation = self.conversations[id], var queue = self.queues[conversation],
            let index = queue.ready.firstIndex(of: id)
        else { return [] }
        queue.ready.remove(at: index)
        queue.files.append(id)
        queue.files.sort { self.places[$0] ?? 0 < self.places[$1] ?? 0 }
        if case .inFlight(id) = queue.state {
            self.inFlightCount -= 1
            queue.state = .ready
            queue.failures = 0
        }
        self.queues[conversation] = queue
        return self.start()
    }

    /// Handles the start of a session on a new connection.
    package mutating func connected() -> [ClientID] {
        self.isConnected = true
        for conversation in self.order {
            // The delay belonged to the previous connection.
            if case .backingOff = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
        return self.start()
    }

    /// Handles the loss of the connection. Messages whose request was pending are sent again on the
    /// next connection, even if the server has stored them.
    package mutating func disconnected() {
        self.isConnected = false
        self.inFlightCount = 0
        for conversation in self.order {
            if case .inFlight = self.queues[conversation]?.state { self.queues[conversation]?.state = .ready }
        }
    }

    /// Records that the server has stored a message. Late and repeated calls are permitted.
    package mutating func acknowledged(_ id: ClientID) -> [ClientID] {
        guard let conversation = self.conversations[id] else { return [] }
        self.acknowledged[id] = conversation
        return self.remove(id)
    }

    /// Records that the log contains a message, that the server has refused it, or that the user
    /// has discarded it. Late and repeated calls are permitted.
    package mutating func settled(_ id: ClientID) -> [ClientID] {
        self.acknowledged[id] = nil
        self.places[id] = nil
        return self.remove(id)
    }

    /// Handles a server whose data was replaced and may lack acknowledged messages. Those that the
    /// log does not contain are sent again on the next connection, in the order of writing and with
    /// their ids: a server that has them repeats its first answer.
    ///
    /// - Precondition: The outbox is disconnected.
    package mutating func requeue() {
        let lost = self.acknowledged
        self.acknowledged = [:]
        for id in lost.keys.sorted(by: { self.places[$0] ?? 0 < self.places[$1] ?? 0 }) {
            guard let conversation = lost[id] else { continue }
            self.conversations[id] = conversation
            if self.queues[conversation] == nil { self.order.append(conversation) }
            self.queues[conversation, default: Queue()].ready.append(id)
        }
        for conversation in Set(lost.values) {
            self.queues[conversation]?.ready.sort { self.places[$0] ?? 0 < self.places[$1] ?? 0 }
        }
    }

    private mutating func place(_ id: ClientID) {
        self.lastPlace += 1
        self.places[id] = self.lastPlace
    }

    private mutating func remove(_ id: ClientID) -> [ClientID] {
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
        queue.files.removeAll { $0 == id }
        queue.uploaded.remove(id)
        queue.advance()
        if queue.isEmpty {
            self.queues[conversation] = nil
            self.order.removeAll { $0 == conversation }
        } else {
            self.queues[conversation] = queue
        }
        return self.start()
    }

    package enum FailedAction: Equatable {
        /// Call ``restEnded(in:)`` after a delay that grows with the number of failures of the
        /// message.
        case rest(ConversationID, failures: Int)
        /// The message was answered, or the connection was lost, before this failure.
        case doNothing
    }

    /// Handles a `send` request that failed temporarily, for example by a timeout or because the
    /// disk of the server is full.
    package mutating func failedForNow(_ id: ClientID) -> (action: FailedAction, send: [ClientID]) {
        guard let conversation = self.conversations[id], var queue = self.queues[conversation], case .inFlight(id) = queue.state
        else { return (.doNothing, []) }
        self.inFlightCount -= 1
        queue.failures += 1
        queue.state = .backingOff
        self.queues[conversation] = queue
        return (.rest(conversation, failures: queue.failures), self.start())
    }

    /// Handles the end of the delay after a failure. Late and repeated calls are permitted.
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
        // Moves the conversations that send now to the end of the order.
        if !ids.isEmpty, self.order.count > self.maximumInFlight {
            let served = Set(ids.compactMap { self.conversations[$0] })
            self.order = self.order.filter { !served.contains($0) } + self.order.filter { served.contains($0) }
        }
        return ids
    }
}
