package import ApusChatProtocol

/// An event in the form that it has after all changes up to a position of its log.
///
/// The server applies changes to the events that it returns. A client applies only those above
/// `asOf` to a stored event, so that none counts twice.
package struct PositionedEvent: Hashable, Sendable {
    package let event: ChatEvent
    /// The seq up to which changes are contained in the event.
    package let asOf: Int64

    /// - Parameter asOf: Nil or a lower number than that of the event stands for the event itself.
    package init(_ event: ChatEvent, asOf: Int64? = nil) {
        self.event = event
        self.asOf = max(event.seq, asOf ?? 0)
    }
}

extension StoreChange {
    /// The changes that add events in this order: one for each run with the same position.
    static func events(_ events: [PositionedEvent]) -> [Self] {
        var changes: [Self] = []
        var run: [ChatEvent] = []
        for (index, positioned) in events.enumerated() {
            run.append(positioned.event)
            guard index + 1 == events.count || events[index + 1].asOf != positioned.asOf else { continue }
            changes.append(.events(run, asOf: positioned.asOf == positioned.event.seq ? nil : positioned.asOf))
            run.removeAll()
        }
        return changes
    }
}
