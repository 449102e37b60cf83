/// Events that are sent until they are acknowledged: in order, one on its way at a time, each a bounded number of times.
///
/// Source: the reference client's `retries` and `ackTimeout`. At least once: an event whose ack was lost comes twice. Unlike there every try of an
/// event carries the same ack id, so that a late ack of an earlier try counts. The shell owns the timer of the one try that is on its way.
package struct SocketIORetryQueue<Packet: Sendable>: Sendable {
    /// An event in the queue.
    package struct Item: Sendable {
        package var ackID: Int
        package var packet: Packet
        package var bytes: Int
        /// How long the ack of each try is waited for.
        package var timeout: Duration
        /// Whether somebody waits for the ack, and would be told of a failure.
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
        /// There is no connection. Leaves to `ready` (connected).
        case offline
        /// Nothing is on its way. Leaves to `waiting` (there is an event) or `offline`.
        case ready
        /// The first event is on its way. Leaves to `ready` (acknowledged, failed, removed) or `offline`.
        case waiting
    }

    private var state = State.offline
    private var items: [Item] = []
    /// How many times the first event was sent.
    private var tries = 0
    private var bytes = 0
    private let maximumTries: Int
    private let maximumCount: Int
    private let maximumBytes: Int

    /// - Parameters:
    ///   - maximumTries: Times an event is sent before it is given up, 1 or more.
    ///   - maximumCount: Events in the queue.
    ///   - maximumBytes: Their bytes.
    package init(maximumTries: Int, maximumCount: Int, maximumBytes: Int) {
        self.maximumTries = max(1, maximumTries)
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    package var count: Int { self.items.count }

    /// Takes an event in; `false` when there is no room. Ask ``next()`` afterwards.
    package mutating func append(_ item: Item) -> Bool {
        guard self.items.count < self.maximumCount, item.bytes <= self.maximumBytes - self.bytes else { return false }
        self.items.append(item)
        self.bytes += item.bytes
        return true
    }

    /// What is to be sent now, with a timer for its ack. Ask after every event of the machine.
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

    /// The namespace is joined.
    package mutating func connected() {
        self.state = .ready
    }

    package enum FailureAction: Equatable {
        /// It was sent often enough, and is out of the queue.
        case giveUp(ackID: Int)
        case doNothing
    }

    /// The connection is gone. A try that was on its way counts.
    package mutating func disconnected() -> FailureAction {
        defer { self.state = .offline }
        switch self.state {
        case .waiting: return self.tryFailed()
        case .offline, .ready: return .doNothing
        }
    }

    /// The ack did not come in time.
    package mutating func timedOut(ackID: Int) -> FailureAction {
        guard case .waiting = self.state, self.items.first?.ackID == ackID else { return .doNothing }  // settled meanwhile
        self.state = .ready
        return self.tryFailed()
    }

    private mutating func tryFailed() -> FailureAction {
        guard self.tries >= self.maximumTries, let first = self.items.first else { return .doNothing }
        self.removeItem(at: 0)
        return .giveUp(ackID: first.ackID)
    }

    /// The ack came, or nobody wants it any more. `true`: it was on its way, and its timer is to be cancelled.
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

    /// The namespace was left. What somebody waits for goes, as he is told that it failed; the rest stays for the next connect.
    package mutating func left() {
        self.state = .offline
        self.tries = 0
        self.items.removeAll { $0.isAwaited }
        self.bytes = self.items.reduce(0) { $0 + $1.bytes }
    }
}
