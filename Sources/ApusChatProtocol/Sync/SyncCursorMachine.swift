/// Follows the log of one conversation without skipping a hole.
///
/// Implements docs/chat-rules.md, 2. The machine applies `seq = cursor + 1` and ignores lower
/// numbers. An event with a higher number waits half a second for the missing events; then the
/// machine pulls them. The cursor advances over applied events and over gaps announced in an action
/// only. A lost, late, duplicate or early push therefore does not change the result.
///
/// The shell starts the timers and sends the requests that the machine returns. Late timers and
/// answers are permitted.
package struct SyncCursorMachine<Event: SequencedEvent>: Sendable {
    private enum State {
        /// No hole is known, or the client is offline. Leaves to `waiting` (an event or head beyond
        /// the cursor) or `pulling` (synchronized).
        case idle
        /// A hole is known and a timer runs. Leaves to `idle` (the hole closed) or `pulling`
        /// (timer).
        case waiting
        /// One request is pending. Leaves to `idle`, `pulling` (the next page) or `waiting` (no
        /// progress).
        case pulling
    }

    /// The last applied event. Earlier events are known, except announced gaps.
    package private(set) var cursor: Int64
    /// The last event that the server is known to have.
    package private(set) var head: Int64
    /// Whether an event was ever applied. If not, the machine starts with a window instead of the
    /// beginning of the log.
    package private(set) var isPrimed: Bool

    private let configuration: SyncConfiguration
    private var state: State = .idle
    private var held: [Int64: Event] = [:]
    private var attemptsWithoutProgress = 0

    /// Creates a machine from stored values.
    /// - Parameters:
    ///   - cursor: The last applied event; 0 for a new conversation.
    ///   - head: The last announced event.
    ///   - isPrimed: Whether an event was ever applied.
    package init(cursor: Int64 = 0, head: Int64 = 0, isPrimed: Bool = false, configuration: SyncConfiguration = .init()) {
        self.cursor = max(cursor, 0)
        self.head = max(head, self.cursor)
        self.isPrimed = isPrimed
        self.configuration = configuration
    }

    /// Whether the server has events that the client lacks.
    package var isBehind: Bool { self.head > self.cursor }

    // MARK: Events

    package enum EventAction {
        /// Store and show these events, in this order.
        case apply([Event])
        /// The event is already known.
        case ignore
        /// The event waits behind a hole. Call ``holeTimerFired()`` after this time.
        case wait(Duration)
        /// The event waits behind a hole for which a timer runs or a request is pending.
        case hold
    }

    /// The server pushed an event, or acknowledged a message of this client.
    package mutating func received(_ event: Event) -> EventAction {
        guard event.seq > self.cursor else { return .ignore }
        self.head = max(self.head, event.seq)
        if event.seq - 1 == self.cursor {
            self.held[event.seq] = event
            let events = self.drain()
            if case .waiting = self.state, !self.isBehind { self.becomeIdle() }
            return .apply(events)
        }
        self.hold(event)
        switch self.state {
        case .idle:
            self.state = .waiting
            return .wait(self.configuration.holePatience)
        case .waiting, .pulling:
            return .hold
        }
    }

    // MARK: Heads

    package enum HeadAction: Equatable {
        /// Send this request to the server.
        case pull(SyncPullRequest)
        /// Wait this long for the events themselves, then call ``holeTimerFired()``.
        case wait(Duration)
        /// No event is missing, or a timer or request is pending.
        case doNothing
    }

    /// The answer to `sync` contained this conversation's head. Missing events were missed while
    /// offline, so they are pulled immediately.
    /// - Parameter floor: The first event that this member can read (`min_seq`).
    package mutating func synchronized(head: Int64, floor: Int64) -> HeadAction {
        self.raise(head: head, floor: floor)
        return self.resumed()
    }

    /// The server pushed a head. The event itself usually follows immediately.
    package mutating func headAdvanced(head: Int64, floor: Int64) -> HeadAction {
        self.raise(head: head, floor: floor)
        guard self.isBehind, case .idle = self.state else { return .doNothing }
        self.state = .waiting
        return .wait(self.configuration.holePatience)
    }

    /// The client is connected and synchronized. A known hole is pulled even if the answer to
    /// `sync` did not contain this conversation.
    package mutating func resumed() -> HeadAction {
        guard self.isBehind else { return .doNothing }
        switch self.state {
        case .idle, .waiting: return self.pull()
        case .pulling: return .doNothing
        }
    }

    /// The delay of `.wait` has elapsed. Late and duplicate calls are permitted.
    package mutating func holeTimerFired() -> HeadAction {
        guard case .waiting = self.state else { return .doNothing }
        guard self.isBehind else {
            self.becomeIdle()
            return .doNothing
        }
        return self.pull()
    }

    /// The connection is lost, which cancels requests and timers. Events behind a hole remain held.
    package mutating func disconnected() {
        self.becomeIdle()
    }

    // MARK: Pulls

    package enum PageAction {
        /// Store `gap`, if any, as a marker in the history, then `events` in this order, then carry
        /// out `next`.
        case apply([Event], gap: ClosedRange<Int64>?, next: HeadAction)
    }

    /// The server answered a pull.
    ///
    /// - Parameter head: The conversation's last event at the time of the answer.
    package mutating func received(page: [Event], head: Int64, for request: SyncPullRequest) -> PageAction {
        self.head = max(self.head, head)
        let before = self.cursor
        let fresh = page.filter { $0.seq > before }.sorted { $0.seq < $1.seq }
        let run: [Event]
        switch request {
        case .page: run = Self.leadingRun(of: fresh)
        case .window: run = Self.trailingRun(of: fresh)
        }
        var gap: ClosedRange<Int64>?
        if let first = run.first, first.seq - 1 > before {
            // The cursor skips events that the server does not have, or that are omitted and
            // reported as a gap.
            gap = self.isPrimed ? (before + 1)...(first.seq - 1) : nil
            self.cursor = first.seq - 1
        }
        for event in run { self.held[event.seq] = event }
        let events = self.drain()
        return .apply(events, gap: gap, next: self.afterPull(madeProgress: self.cursor > before))
    }

    /// A pull was refused or timed out while connected.
    package mutating func pullFailed() -> HeadAction {
        guard case .pulling = self.state else { return .doNothing }  // disconnected in the meantime
        return self.afterPull(madeProgress: false)
    }

    // MARK: Private

    private mutating func afterPull(madeProgress: Bool) -> HeadAction {
        guard self.isBehind else {
            self.becomeIdle()
            return .doNothing
        }
        if madeProgress {
            self.attemptsWithoutProgress = 0
            return self.pull()
        }
        // The server announces events that it does not deliver. An immediate retry would be a busy
        // loop.
        self.state = .waiting
        let delay = self.configuration.retryDelay(afterAttempts: self.attemptsWithoutProgress)
        self.attemptsWithoutProgress += 1
        return .wait(delay)
    }

    private mutating func pull() -> HeadAction {
        self.state = .pulling
        if !self.isPrimed || self.head - self.cursor > self.configuration.maximumCatchUp {
            return .pull(.window(before: self.head == .max ? .max : self.head + 1, limit: self.configuration.windowLimit))
        }
        return .pull(.page(from: self.cursor + 1, limit: self.configuration.pageLimit))
    }

    private mutating func raise(head: Int64, floor: Int64) {
        if floor > 0, floor - 1 > self.cursor {
            self.cursor = floor - 1
            self.held = self.held.filter { $0.key >= floor }
        }
        self.head = max(self.head, head, self.cursor)
    }

    private mutating func hold(_ event: Event) {
        // A dropped event leaves `head` raised, so a later pull delivers it.
        guard self.held.count < self.configuration.maximumHeld else { return }
        self.held[event.seq] = event
    }

    /// Removes the events that follow the cursor from `held` and advances the cursor over them.
    private mutating func drain() -> [Event] {
        var events: [Event] = []
        while self.cursor < .max, let event = self.held.removeValue(forKey: self.cursor + 1) {
            self.cursor += 1
            events.append(event)
        }
        if !events.isEmpty {
            self.isPrimed = true
            if !self.held.isEmpty {
                let cursor = self.cursor
                self.held = self.held.filter { $0.key > cursor }
            }
        }
        self.head = max(self.head, self.cursor)
        return events
    }

    private mutating func becomeIdle() {
        self.state = .idle
        self.attemptsWithoutProgress = 0
    }

    private static func leadingRun(of sorted: [Event]) -> [Event] {
        guard let first = sorted.first else { return [] }
        var run = [first]
        for event in sorted.dropFirst() {
            guard let last = run.last, event.seq > last.seq else { continue }  // a duplicate
            guard event.seq - 1 == last.seq else { break }
            run.append(event)
        }
        return run
    }

    private static func trailingRun(of sorted: [Event]) -> [Event] {
        guard let last = sorted.last else { return [] }
        var run = [last]
        for event in sorted.dropLast().reversed() {
            guard let first = run.last, event.seq < first.seq else { continue }
            guard event.seq + 1 == first.seq else { break }
            run.append(event)
        }
        return run.reversed()
    }
}

extension SyncCursorMachine.EventAction: Equatable where Event: Equatable {}
extension SyncCursorMachine.PageAction: Equatable where Event: Equatable {}
