/// Follows the log of one conversation without ever crossing a hole.
///
/// Source: chat rule 2. `seq = cursor + 1` is applied; at most the cursor is ignored; beyond it waits half a second for the hole to close and then
/// pulls. A cursor moves over events it has applied, or over a gap it has announced in an action, and over nothing else; so order and
/// completeness come from the server's numbers and a push that is lost, late, doubled or early changes nothing.
///
/// The shell starts the timers and sends the requests this machine answers with. A timer or an answer that comes too late is legal.
package struct SyncCursorMachine<Event: SequencedEvent>: Sendable {
    private enum State {
        /// No hole is known, or the client is offline. Leaves to `waiting` (an event beyond) or `pulling` (a head beyond).
        case level
        /// A hole is known and a timer runs. Leaves to `level` (the hole closed) or `pulling` (timer).
        case waiting
        /// One request is on the wire. Leaves to `level`, `pulling` (the next page) or `waiting` (it failed).
        case pulling
    }

    /// The last event applied. Everything up to here is known, except announced gaps.
    package private(set) var cursor: Int64
    /// The last event the server is known to have.
    package private(set) var head: Int64
    /// Whether anything was ever applied. A machine that was not starts with a window instead of at the beginning of the log.
    package private(set) var isPrimed: Bool

    private let configuration: SyncConfiguration
    private var state: State = .level
    private var held: [Int64: Event] = [:]
    private var fruitlessAttempts = 0

    /// A machine as the store remembers it.
    /// - Parameters:
    ///   - cursor: the last applied event, 0 for a new conversation.
    ///   - head: the last announced event.
    ///   - isPrimed: whether `cursor` was reached by applying; false for a conversation never read.
    package init(cursor: Int64 = 0, head: Int64 = 0, isPrimed: Bool = false, configuration: SyncConfiguration = .init()) {
        self.cursor = max(cursor, 0)
        self.head = max(head, self.cursor)
        self.isPrimed = isPrimed
        self.configuration = configuration
    }

    /// Whether the client lacks events it knows of.
    package var isBehind: Bool { self.head > self.cursor }

    // MARK: Events

    package enum EventAction {
        /// Store and show these, in this order.
        case apply([Event])
        /// Known already.
        case ignore
        /// The event waits behind a hole. Call ``holeTimerFired()`` after this time.
        case wait(Duration)
        /// The event waits behind a hole that is being taken care of.
        case hold
    }

    /// The server pushed an event, or acknowledged one of ours.
    package mutating func received(_ event: Event) -> EventAction {
        guard event.seq > self.cursor else { return .ignore }
        self.head = max(self.head, event.seq)
        if event.seq - 1 == self.cursor {
            self.held[event.seq] = event
            let events = self.drain()
            if case .waiting = self.state, !self.isBehind { self.becomeLevel() }
            return .apply(events)
        }
        self.hold(event)
        switch self.state {
        case .level:
            self.state = .waiting
            return .wait(self.configuration.holePatience)
        case .waiting, .pulling:
            return .hold
        }
    }

    // MARK: Heads

    package enum HeadAction: Equatable {
        /// Ask the server for this.
        case pull(SyncPullRequest)
        /// Give the events themselves this time to come. Then call ``holeTimerFired()``.
        case wait(Duration)
        /// Nothing is missing, or it is being fetched.
        case doNothing
    }

    /// The answer to `sync` named this conversation's head: what is missing was missed while offline, so it is pulled at once.
    /// - Parameter floor: the first event this member may read (`min_seq`). What lies below does not exist for this client.
    package mutating func synchronized(head: Int64, floor: Int64) -> HeadAction {
        self.raise(head: head, floor: floor)
        return self.resumed()
    }

    /// The server pushed a head while we are connected: the event itself is probably right behind it.
    package mutating func nudged(head: Int64, floor: Int64) -> HeadAction {
        self.raise(head: head, floor: floor)
        guard self.isBehind, case .level = self.state else { return .doNothing }
        self.state = .waiting
        return .wait(self.configuration.holePatience)
    }

    /// Connected and synchronized: a hole that is known from before is pulled, whether or not the server named this conversation again.
    package mutating func resumed() -> HeadAction {
        guard self.isBehind else { return .doNothing }
        switch self.state {
        case .level, .waiting: return self.pull()
        case .pulling: return .doNothing
        }
    }

    /// The time given by `.wait` is over. Late or doubled calls are legal.
    package mutating func holeTimerFired() -> HeadAction {
        guard case .waiting = self.state else { return .doNothing }
        guard self.isBehind else {
            self.becomeLevel()
            return .doNothing
        }
        return self.pull()
    }

    /// The connection is gone: requests and timers are void. What waits behind a hole keeps waiting.
    package mutating func disconnected() {
        self.becomeLevel()
    }

    // MARK: Pulls

    package enum PageAction {
        /// Store `gap` as a mark in the history (when there is one), then `events` in this order, then carry out `next`.
        case apply([Event], gap: ClosedRange<Int64>?, next: HeadAction)
    }

    /// The server answered a pull.
    ///
    /// - Parameter head: the conversation's last event as of the answer.
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
            // Only here may the cursor jump: the server was asked for what lies between, or it is deliberately left out, and the history says so.
            gap = self.isPrimed ? (before + 1)...(first.seq - 1) : nil
            self.cursor = first.seq - 1
        }
        for event in run { self.held[event.seq] = event }
        let events = self.drain()
        return .apply(events, gap: gap, next: self.afterPull(madeProgress: self.cursor > before))
    }

    /// A pull was refused or timed out while connected.
    package mutating func pullFailed() -> HeadAction {
        guard case .pulling = self.state else { return .doNothing }  // disconnected meanwhile
        return self.afterPull(madeProgress: false)
    }

    // MARK: Private

    private mutating func afterPull(madeProgress: Bool) -> HeadAction {
        guard self.isBehind else {
            self.becomeLevel()
            return .doNothing
        }
        if madeProgress {
            self.fruitlessAttempts = 0
            return self.pull()
        }
        // The server says there is more and does not hand it out. Asking at once again would be a tight loop between two programs.
        self.state = .waiting
        let delay = self.configuration.retryDelay(afterAttempts: self.fruitlessAttempts)
        self.fruitlessAttempts += 1
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
        // What is dropped here leaves `head` raised and comes back with the pull.
        guard self.held.count < self.configuration.maximumHeld else { return }
        self.held[event.seq] = event
    }

    /// Takes everything that follows the cursor out of `held` and moves the cursor over it.
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

    private mutating func becomeLevel() {
        self.state = .level
        self.fruitlessAttempts = 0
    }

    private static func leadingRun(of sorted: [Event]) -> [Event] {
        guard let first = sorted.first else { return [] }
        var run = [first]
        for event in sorted.dropFirst() {
            guard let last = run.last, event.seq > last.seq else { continue }  // doubled
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
