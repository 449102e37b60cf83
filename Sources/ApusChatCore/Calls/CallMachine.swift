package import ApusChatProtocol

/// One call from its ring to its end, as its message in the log records it.
///
/// The media flows between the devices. Every change may come late, twice or after the end; it then
/// has no effect.
package struct CallMachine: Sendable, Equatable {
    /// The origin of a change.
    package enum Party: Sendable, CaseIterable {
        case caller
        case callee
        /// The server, when a ring was not answered.
        case server
    }

    package enum Action: Sendable, Equatable {
        /// Record a state in the message.
        ///
        /// - Parameter duration: The time from the answer to the end, in milliseconds. Nil without
        ///   an answer.
        case record(CallState, duration: Int64?)
        /// The call has that state, or a later one.
        case doNothing
    }

    /// What the message shows.
    package private(set) var state: CallState
    /// The time of the last change, in milliseconds since 1970.
    package private(set) var changedAt: Int64
    /// Whether more than one user rings.
    private let isGroup: Bool

    /// Restores a call from its message.
    package init(state: CallState = .ringing, changedAt: Int64 = 0, isGroup: Bool = false) {
        self.state = state
        self.changedAt = changedAt
        self.isGroup = isGroup
    }

    /// Whether nothing can change any more.
    package var isOver: Bool { self.state != .ringing && self.state != .accepted }

    /// Takes a state that a party reports.
    package mutating func reported(_ report: CallState, by party: Party, at time: Int64) -> Action {
        switch self.state {
        case .ringing: self.ringing(report, party, time)
        case .accepted:
            // A ring that ends in the moment of the answer does not end the call.
            report == .ended && party != .server ? self.record(.ended, time, duration: max(0, time - self.changedAt)) : .doNothing
        case .ended, .missed, .declined, .busy, .unknown: .doNothing
        }
    }

    private mutating func ringing(_ report: CallState, _ party: Party, _ time: Int64) -> Action {
        switch (report, party) {
        case (.accepted, .callee): self.record(.accepted, time)
        case (.declined, .callee), (.busy, .callee):
            // The others still ring.
            self.isGroup ? .doNothing : self.record(report, time)
        case (.ended, _), (.missed, _), (.declined, .caller), (.busy, .caller): self.record(.missed, time)
        case (.accepted, .caller), (.accepted, .server), (.declined, .server), (.busy, .server), (.ringing, _), (.unknown, _): .doNothing
        }
    }

    private mutating func record(_ state: CallState, _ time: Int64, duration: Int64? = nil) -> Action {
        self.state = state
        self.changedAt = time
        return .record(state, duration: duration)
    }
}
