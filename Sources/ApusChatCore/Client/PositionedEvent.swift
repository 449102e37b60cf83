package import ApusChatProtocol

/// An event, and the position up to which it contains the changes of its log.
///
/// The server applies changes to the events that it returns. A client applies only the changes
/// after `asOf` to a stored event, so that no change is applied twice.
package struct PositionedEvent: Hashable, Sendable {
    package let event: ChatEvent
    /// The `seq` up to which the event contains changes.
    package let asOf: Int64

    /// - Parameter asOf: The `seq` up to which the event contains changes. The `seq` of the event
    ///   is used if it is greater, or if `asOf` is nil.
    package init(_ event: ChatEvent, asOf: Int64? = nil) {
        self.event = event
        self.asOf = max(event.seq, asOf ?? 0)
    }
}

extension StoreChange {
    /// Returns the store changes that add the events in this order: one for each run of events with
    /// the same position.
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
