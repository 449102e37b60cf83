import ApusChatCore
import ApusChatProtocol

/// The stored events of one conversation, by seq.
struct DeviceLog {
    private struct Stored {
        var event: ChatEvent
        /// The seq up to which changes are contained in the event.
        var asOf: Int64
    }

    /// The seq of the first element of `events`.
    private var first: Int64 = 0
    /// Nil where an event is missing.
    private var events: [Stored?] = []

    var count: Int { self.events.count }
    /// The lowest seq; nil for an empty log.
    var lowest: Int64? { self.events.isEmpty ? nil : self.first }
    var last: Int64 { self.first + Int64(self.events.count) - 1 }

    subscript(seq: Int64) -> ChatEvent? { self.index(of: seq).flatMap { self.events[$0]?.event } }

    private func index(of seq: Int64) -> Int? {
        guard !self.events.isEmpty, seq >= self.first, seq <= self.last else { return nil }
        return Int(seq - self.first)
    }

    /// Adds an event, or replaces it by one with later changes.
    mutating func put(_ event: ChatEvent, asOf: Int64) {
        if self.events.isEmpty { self.first = event.seq }
        if event.seq < self.first {
            self.events.insert(contentsOf: [Stored?](repeating: nil, count: Int(self.first - event.seq)), at: 0)
            self.first = event.seq
        }
        while event.seq > self.last { self.events.append(nil) }
        let index = Int(event.seq - self.first)
        if let known = self.events[index], known.asOf > asOf { return }
        var event = event
        // An edit that arrives after the time of its message.
        if let ref = event.ref, self[ref]?.state == .expired { event = event.expired(with: ref) }
        self.events[index] = Stored(event: event, asOf: asOf)
    }

    /// Applies a change to the events that do not contain it.
    mutating func apply(_ change: ChatEvent) {
        if change.n != nil {
            if let first = change.thread, let index = self.index(of: first) { self.apply(change, at: index) }
            return
        }
        guard let ref = change.ref else { return }
        if let target = self.index(of: ref) { self.apply(change, at: target) }
        // A recall also removes the texts of earlier edits.
        guard change.kind == .recall else { return }
        for index in self.events.indices where self.events[index]?.event.ref == ref { self.apply(change, at: index) }
    }

    private mutating func apply(_ change: ChatEvent, at index: Int) {
        guard let stored = self.events[index], stored.asOf < change.seq else { return }
        self.events[index] = Stored(event: stored.event.applying(change), asOf: change.seq)
    }

    /// Removes the content of the events whose time is over.
    mutating func expire(at now: Int64) {
        for index in self.events.indices {
            guard let event = self.events[index]?.event, let time = event.expiresAt, time <= now else { continue }
            self.events[index]?.event = event.expired(at: now)
            for other in self.events.indices {
                if let edit = self.events[other]?.event { self.events[other]?.event = edit.expired(with: event.seq) }
            }
        }
    }

    /// The missing seqs between the first and the last event.
    var missing: [Int64] { self.events.indices.filter { self.events[$0] == nil }.map { self.first + Int64($0) } }

    /// The highest missing seq from `floor` on; nil if none is missing.
    func lastMissing(from floor: Int64) -> Int64? {
        guard !self.events.isEmpty else { return nil }
        for index in self.events.indices.reversed() {
            let seq = self.first + Int64(index)
            if seq < floor { return nil }
            if self.events[index] == nil { return seq }
        }
        return self.first > floor ? self.first - 1 : nil
    }
}
