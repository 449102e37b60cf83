import ApusChatCore
import ApusChatProtocol

/// The stored events of one conversation, by `seq`.
struct DeviceLog {
    /// A stored event. This type is a class, so that the array contains references.
    private final class Stored {
        let event: ChatEvent
        /// The `seq` up to which changes are applied to the event.
        let asOf: Int64

        init(event: ChatEvent, asOf: Int64) {
            self.event = event
            self.asOf = asOf
        }
    }

    /// The `seq` of the first element of `events`.
    private var first: Int64 = 0
    /// The events from `first` onward; nil where an event is missing.
    private var events: [Stored?] = []
    /// The number of stored events that expire.
    private var expiring = 0

    var count: Int { self.events.count }
    /// The lowest stored `seq`; nil for an empty log.
    var lowest: Int64? { self.events.isEmpty ? nil : self.first }
    var last: Int64 { self.first + Int64(self.events.count) - 1 }

    subscript(seq: Int64) -> ChatEvent? { self.index(of: seq).flatMap { self.events[$0]?.event } }

    private func index(of seq: Int64) -> Int? {
        guard !self.events.isEmpty, seq >= self.first, seq <= self.last else { return nil }
        return Int(seq - self.first)
    }

    /// Adds an event, or replaces a stored event to which fewer changes are applied.
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
        // An edit or a preview of a message that has already expired has no content.
        if let ref = event.ref, self[ref]?.state == .expired { event = event.expired(with: ref) }
        self.replace(index, Stored(event: event, asOf: asOf))
    }

    private mutating func replace(_ index: Int, _ stored: Stored) {
        self.expiring += (stored.event.expiresAt == nil ? 0 : 1) - (self.events[index]?.event.expiresAt == nil ? 0 : 1)
        self.events[index] = stored
    }

    /// Applies a change to the stored events that it affects, unless it is already applied.
    mutating func apply(_ change: ChatEvent) {
        if change.n != nil {
            if let first = change.thread, let index = self.index(of: first) { self.apply(change, at: index) }
            return
        }
        guard let ref = change.ref else { return }
        if let target = self.index(of: ref) { self.apply(change, at: target) }
        // A recall also removes the content of the edits and previews of the message.
        guard change.kind == .recall else { return }
        for index in self.events.indices where self.events[index]?.event.ref == ref { self.apply(change, at: index) }
    }

    private mutating func apply(_ change: ChatEvent, at index: Int) {
        guard let stored = self.events[index], stored.asOf < change.seq else { return }
        self.replace(index, Stored(event: stored.event.applying(change), asOf: change.seq))
    }

    /// Removes the content of expired events.
    mutating func expire(at now: Int64) {
        guard self.expiring > 0 else { return }
        for index in self.events.indices {
            guard let stored = self.events[index], let time = stored.event.expiresAt, time <= now else { continue }
            self.replace(index, Stored(event: stored.event.expired(at: now), asOf: stored.asOf))
            for other in self.events.indices {
                guard let edit = self.events[other], edit.event.ref == stored.event.seq else { continue }
                self.replace(other, Stored(event: edit.event.expired(with: stored.event.seq), asOf: edit.asOf))
            }
        }
    }

    /// The `seq` of each event that is missing between the first and the last stored one.
    var missing: [Int64] { self.events.indices.filter { self.events[$0] == nil }.map { self.first + Int64($0) } }

    /// Returns the highest missing `seq` that is at least `floor`; nil if none is missing.
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
