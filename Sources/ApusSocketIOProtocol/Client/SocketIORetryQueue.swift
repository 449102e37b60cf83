/// A queue of events that are sent until they are acknowledged: in order, one at a time, each a
/// limited number of times.
///
/// Delivery is at least once: an event whose ack was lost arrives twice. Source: the options
/// `retries` and `ackTimeout` of Node's Socket.IO client. In contrast to that client, all tries of
/// an event have the same ack id, so that a late ack of an earlier try is accepted. The caller runs
/// the timer of the outstanding try.
package struct SocketIORetryQueue<Packet: Sendable>: Sendable {
    /// An event in the queue.
    package struct Item: Sendable {
        package var ackID: Int
        package var packet: Packet
        package var bytes: Int
        /// The time to wait for the ack of each try.
        package var timeout: Duration
        /// Whether the caller awaits the ack and receives an error on failure.
        package var isAwaited: Bool

        package init(ackID: Int, packet: Packet, bytes: Int, timeout: Duration, isAwaited: Bool) {
            self.ackID = ackID
            self.packet = packet
            self.bytes = bytes
            self.timeout = timeout
            self.isAwaited = isAwaited
        }
    }

    private enum State {
        /// Disconnected. Transitions to `ready` (connected).
        case offline
        /// No try is outstanding. Transitions to `waiting` (an event is queued) or `offline`.
        case ready
        /// The first event was sent. Transitions to `ready` (acknowledged, failed, removed) or
        /// `offline`.
        case waiting
    }

    private var state = State.offline
    private var items: [Item] = []
    /// The number of times the first event was sent.
    private var tries = 0
    private var bytes = 0
    private let maximumTries: Int
    private let maximumCount: Int
    private let maximumBytes: Int

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - maximumTries: The number of times an event is sent before it fails, at least 1.
    ///   - maximumCount: The maximum number of events.
    ///   - maximumBytes: The maximum number of bytes of the events.
    package init(maximumTries: Int, maximumCount: Int, maximumBytes: Int) {
        self.maximumTries = max(1, maximumTries)
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    package var count: Int { self.items.count }

    /// Appends an event; `false` if the queue is full. Call ``next()`` afterwards.
    package mutating func append(_ item: Item) -> Bool {
        guard self.items.count < self.maximumCount, item.bytes <= self.maximumBytes - self.bytes else { return false }
        self.items.append(item)
        self.bytes += item.bytes
        return true
    }

    /// Returns the event to send now. The caller starts a timer for its ack. Call this method after
    /// every other method.
    package mutating func next() -> Item? {
        switch self.state {
        case .ready:
            guard let first = self.items.first else { return nil }
            self.tries += 1
            self.state = .waiting
            return first
        case .offline, .waiting:
            return nil
        }
    }

    /// Records that the namespace was joined.
    package mutating func connected() {
        self.state = .ready
    }

    package enum FailureAction: Equatable {
        /// The event was sent the maximum number of times and was removed.
        case giveUp(ackID: Int)
        case doNothing
    }

    /// Records the loss of the connection. The outstanding try counts as failed.
    package mutating func disconnected() -> FailureAction {
        defer { self.state = .offline }
        switch self.state {
        case .waiting: return self.tryFailed()
        case .offline, .ready: return .doNothing
        }
    }

    /// Records that the ack of the outstanding try did not arrive within its timeout.
    package mutating func tryTimedOut(ackID: Int) -> FailureAction {
        // The try is not outstanding if it was acknowledged or has failed before its timeout.
        guard case .waiting = self.state, self.items.first?.ackID == ackID else { return .doNothing }
        self.state = .ready
        return self.tryFailed()
    }

    private mutating func tryFailed() -> FailureAction {
        guard self.tries >= self.maximumTries, let first = self.items.first else { return .doNothing }
        self.removeItem(at: 0)
        return .giveUp(ackID: first.ackID)
    }

    /// Removes an event that was acknowledged or abandoned.
    ///
    /// - Returns: `true` if the event was sent and awaits its ack. Cancel its timer then.
    package mutating func remove(ackID: Int) -> Bool {
        guard let index = self.items.firstIndex(where: { $0.ackID == ackID }) else { return false }
        self.removeItem(at: index)
        guard index == 0, case .waiting = self.state else { return false }
        self.state = .ready
        return true
    }

    private mutating func removeItem(at index: Int) {
        self.bytes -= self.items.remove(at: index).bytes
        if index == 0 { self.tries = 0 }
    }

    /// Records that the namespace was left. Removes the events whose callers await an ack and
    /// receive an error; keeps the other events for the next connection.
    package mutating func left() {
        self.state = .offline
        self.tries = 0
        self.items.removeAll { $0.isAwaited }
        self.bytes = self.items.reduce(0) { $0 + $1.bytes }
    }
}
