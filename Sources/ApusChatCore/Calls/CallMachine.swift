package import ApusChatProtocol

/// The state of one call, from ringing to its end, as its message in the log records it.
///
/// The media of the call flows between the devices and is not handled here. A report that arrives
/// late, twice or after the end has no effect.
package struct CallMachine: Sendable, Equatable {
    /// The origin of a reported state.
    package enum Party: Sendable, CaseIterable {
        case caller
        case callee
        /// The server, which reports `missed` if no device answered, and `ended` if no device is in
        /// the call any more.
        case server
    }

    package enum Action: Sendable, Equatable {
        /// Record a state in the message of the call.
        ///
        /// - Parameter duration: The time from the answer to the end, in milliseconds; nil unless
        ///   the state is `ended`.
        case record(CallState, duration: Int64?)
        /// The device that reports the state leaves the call of a group, which continues for the
        /// others. The server ends the call when no device is left.
        case leave
        /// The report has no effect in the present state of the call.
        case doNothing
    }

    /// The state that the message shows.
    package private(set) var state: CallState
    /// The time of the last change, in milliseconds since 1970.
    package private(set) var changedAt: Int64
    /// Whether the call takes place in a group or channel.
    private let isGroup: Bool

    /// Restores a call from its message in the log.
    package init(state: CallState = .ringing, changedAt: Int64 = 0, isGroup: Bool = false) {
        self.state = state
        self.changedAt = changedAt
        self.isGroup = isGroup
    }

    /// Whether the state is final.
    package var isOver: Bool { self.state != .ringing && self.state != .accepted }

    /// Handles a state that a party reports.
    package mutating func reported(_ report: CallState, by party: Party, at time: Int64) -> Action {
        switch self.state {
        case .ringing: self.ringing(report, party, time)
        case .accepted: self.accepted(report, party, time)
        case .ended, .missed, .declined, .busy, .unknown: .doNothing
        }
    }

    private mutating func ringing(_ report: CallState, _ party: Party, _ time: Int64) -> Action {
        switch (report, party) {
        case (.accepted, .callee): self.record(.accepted, time)
        case (.declined, .callee), (.busy, .callee), (.ended, .callee), (.missed, .callee):
            // In a group, the call still rings for the other users.
            if self.isGroup { .doNothing } else { self.record(report == .ended ? .missed : report, time) }
        case (.ended, _), (.missed, _), (.declined, .caller), (.busy, .caller): self.record(.missed, time)
        case (.accepted, .caller), (.accepted, .server), (.declined, .server), (.busy, .server), (.ringing, _), (.unknown, _): .doNothing
        }
    }

    private mutating func accepted(_ report: CallState, _ party: Party, _ time: Int64) -> Action {
        // A ring that ends at the same time as the call is answered does not end the call.
        guard report == .ended else { return .doNothing }
        guard self.isGroup, party != .server else { return self.record(.ended, time, duration: max(0, time - self.changedAt)) }
        return .leave
    }

    private mutating func record(_ state: CallState, _ time: Int64, duration: Int64? = nil) -> Action {
        self.state = state
        self.changedAt = time
        return .record(state, duration: duration)
    }
}
