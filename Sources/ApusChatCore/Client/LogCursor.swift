package import ApusChatProtocol

/// Follows the log of one conversation without skipping missing events.
///
/// The cursor is the `seq` of the last applied event. The next event is applied, and events at or
/// before the cursor are ignored. An event after a missing one waits for
/// `FollowSettings.holePatience`; then the missing events are requested. The cursor only moves over
/// applied events and over gaps that an action reports, so that lost, late, repeated and early
/// pushes do not change the result. Late timers and answers are permitted.
package struct LogCursor: Sendable {
    private enum State {
        /// No event is known to be missing, or the client is disconnected. Transitions to `waiting`
        /// (an event or a head after the cursor) or `pulling` (synchronized).
        case idle
        /// Events are missing and a timer runs. Transitions to `idle` (the events arrived,
        /// disconnected) or `pulling` (timer, synchronized).
        case waiting
        /// One request is pending. Transitions to `idle` (complete, disconnected), `pulling` (the
        /// next page) or `waiting` (no progress).
        case pulling
    }

    /// The `seq` of the last applied event. Earlier events are known, except those in reported
    /// gaps.
    package private(set) var cursor: Int64
    /// The `seq` of the last event that the server is known to have.
    package private(set) var head: Int64
    /// Whether an event was ever applied. If not, the cursor starts with the newest events, not at
    /// the beginning of the log.
    package private(set) var isPrimed: Bool

    /// Whether the log is followed although no event of it is stored, because it is shown or
    /// mentions the user. If not, the log starts with the first pushed event; earlier events are
    /// requested when they are shown.
    package var isWanted = false

    private let settings: FollowSettings
    private var state: State = .idle
    private var held: [Int64: PositionedEvent] = [:]
    private var attemptsWithoutProgress = 0

    /// Creates a cursor from stored values.
    package init(cursor: Int64 = 0, head: Int64 = 0, isPrimed: Bool = false, settings: FollowSettings = FollowSettings()) {
        self.cursor = max(cursor, 0)
        self.head = max(head, self.cursor)
        self.isPrimed = isPrimed
        self.settings = settings
    }

    /// Whether the server has events after the cursor.
    package var isBehind: Bool { self.head > self.cursor }
    private var isFollowed: Bool { self.isPrimed || self.isWanted }

    // MARK: Events

    package enum EventAction: Equatable {
        /// Store and show these events, in this order.
        case apply([PositionedEvent])
        /// The event is already known.
        case ignore
        /// The event waits for missing events. Call ``holeTimerFired()`` after this time.
        case wait(Duration)
        /// The event waits for missing events. A timer already runs, or a request is pending.
        case hold
    }

    /// Handles an event that the server pushed.
    ///
    /// - Parameter asOf: The `seq` of the last change that the event contains; nil means the `seq`
    ///   of the event.
    package mutating func receivedEvent(_ event: ChatEvent, asOf: Int64? = nil) -> EventAction {
        guard event.seq > self.cursor else { return .ignore }
        if !self.isFollowed { self.cursor = event.seq - 1 }
        self.head = max(self.head, event.seq)
        let positioned = PositionedEvent(event, asOf: asOf)
        if event.seq - 1 == self.cursor {
            self.held[event.seq] = positioned
            let events = self.drain()
            if case .waiting = self.state, !self.isBehind { self.becomeIdle() }
            return .apply(events)
        }
        self.hold(positioned)
        switch self.state {
        case .idle:
            self.state = .waiting
            return .wait(self.settings.holePatience)
        case .waiting, .pulling:
            return .hold
        }
    }

    // MARK: Heads

    package enum HeadAction: Equatable {
        /// Request this part of the log.
        case pull(HistoryRequest.Range, limit: Int)
        /// Wait this long for a push of the events, then call ``holeTimerFired()``.
        case wait(Duration)
        /// No event is missing, or a timer or request is pending.
        case doNothing
    }

    /// Handles the head of the conversation in a page of the first sync. ``resumed()`` is called
    /// after the last page.
    package mutating func announced(head: Int64, floor: Int64) { self.raise(head: head, floor: floor) }

    /// Handles the head of the conversation in the answer to `sync`. Events that were missed while
    /// the client was disconnected are requested immediately.
    ///
    /// - Parameter floor: The `seq` of the first event that the user can see (`min_seq`).
    package mutating func synchronized(head: Int64, floor: Int64) -> HeadAction {
        self.raise(head: head, floor: floor)
        return self.resumed()
    }

    /// Handles a pushed head or nudge. The push of the event usually follows immediately.
    package mutating func headAdvanced(head: Int64, floor: Int64) -> HeadAction {
        self.raise(head: head, floor: floor)
        guard self.isBehind, self.isFollowed, case .idle = self.state else { return .doNothing }
        self.state = .waiting
        return .wait(self.settings.holePatience)
    }

    /// Handles the end of the synchronization. Missing events are requested even if the answer to
    /// `sync` did not contain the conversation.
    package mutating func resumed() -> HeadAction {
        guard self.isBehind, self.isFollowed else { return .doNothing }
        switch self.state {
        case .idle, .waiting: return self.pull()
        case .pulling: return .doNothing
        }
    }

    /// Handles the end of the delay of `.wait`. Late and repeated calls are permitted.
    package mutating func holeTimerFired() -> HeadAction {
        guard case .waiting = self.state else { return .doNothing }
        guard self.isBehind else {
            self.becomeIdle()
            return .doNothing
        }
        return self.pull()
    }

    /// Handles the head of a conversation that the user has left. The log ends at the head,
    /// although an earlier nudge may have announced later events.
    package mutating func ended(at seq: Int64) {
        self.head = max(self.cursor, seq)
        self.held = self.held.filter { $0.key <= self.head }
    }

    /// Handles the loss of the connection, which ends requests and timers. Events that wait for
    /// missing ones remain.
    package mutating func disconnected() { self.becomeIdle() }

    // MARK: Pulls

    package struct PageAction: Equatable {
        /// The positions that are missing in the history before `events`; nil if none are missing.
        package var gap: ClosedRange<Int64>?
        /// Store and show these events, in this order.
        package var events: [PositionedEvent]
        package var next: HeadAction
    }

    /// Handles the answer to a `history` request.
    ///
    /// - Parameter head: The `seq` of the newest event that the user can see, at the time of the
    ///   answer. Each event of the page already reflects all changes with a `seq` up to `head`.
    package mutating func receivedPage(_ page: [ChatEvent], head: Int64, for range: HistoryRequest.Range) -> PageAction {
        self.head = max(self.head, head)
        let before = self.cursor
        let fresh = page.filter { $0.seq > before }.sorted { $0.seq < $1.seq }
        let run =
            switch range {
            case .from: Self.leadingRun(of: fresh)
            case .newest, .before, .around: Self.trailingRun(of: fresh)
            }
        var gap: ClosedRange<Int64>?
        if let first = run.first, first.seq - 1 > before {
            // The cursor moves over events that the server does not have, and over events that are
            // not requested and are reported as a gap.
            gap = self.isPrimed ? (before + 1)...(first.seq - 1) : nil
            self.cursor = first.seq - 1
        }
        for event in run {
            let positioned = PositionedEvent(event, asOf: head)
            if let known = self.held[event.seq], known.asOf >= positioned.asOf { continue }
            self.held[event.seq] = positioned
        }
        let events = self.drain()
        return PageAction(gap: gap, events: events, next: self.afterPull(madeProgress: self.cursor > before))
    }

    /// Handles a `history` request that was refused or timed out while the client was connected.
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
        // The request failed, or the server reports events that it does not deliver. An immediate
        // retry would be a busy loop.
        self.state = .waiting
        let delay = self.settings.retryDelay(afterAttempts: self.attemptsWithoutProgress)
        self.attemptsWithoutProgress += 1
        return .wait(delay)
    }

    private mutating func pull() -> HeadAction {
        self.state = .pulling
        guard self.isPrimed, self.head - self.cursor <= self.settings.maximumCatchUp else {
            return .pull(.newest, limit: self.settings.windowLimit)
        }
        return .pull(.from(self.cursor + 1), limit: self.settings.pageLimit)
    }

    private mutating func raise(head: Int64, floor: Int64) {
        if floor - 1 > self.cursor {
            self.cursor = floor - 1
            self.held = self.held.filter { $0.key >= floor }
        }
        self.head = max(self.head, head, self.cursor)
    }

    private mutating func hold(_ positioned: PositionedEvent) {
        // The event is dropped. `head` is already raised, so a later request delivers the event.
        guard self.held.count < self.settings.maximumHeld else { return }
        self.held[positioned.event.seq] = positioned
    }

    /// Removes the events that directly follow the cursor from `held`, and advances the cursor over
    /// them.
    private mutating func drain() -> [PositionedEvent] {
        var events: [PositionedEvent] = []
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

    private static func leadingRun(of sorted: [ChatEvent]) -> [ChatEvent] {
        guard let first = sorted.first else { return [] }
        var run = [first]
        for event in sorted.dropFirst() {
            guard let last = run.last, event.seq > last.seq else { continue }  // a repetition
            guard event.seq - 1 == last.seq else { break }
            run.append(event)
        }
        return run
    }

    private static func trailingRun(of sorted: [ChatEvent]) -> [ChatEvent] {
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
