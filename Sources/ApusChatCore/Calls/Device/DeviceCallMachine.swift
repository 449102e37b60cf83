package import ApusChatProtocol

/// The states of a call on one device, from the ring to the end.
///
/// The log contains the state of the call for all devices (``CallMachine``). This machine adds the
/// state of one device.
///
///     starting ── outgoing ─┐
///                           ├─ active ── over
///     incoming ── joining ──┘
///
/// Each phase can end in `over`, which is final.
package struct DeviceCallMachine: Sendable, Equatable {
    package enum Phase: Sendable, Hashable {
        /// The user started a call, and the server has not answered.
        case starting
        /// The call rings for the other users.
        case outgoing
        /// The call rings on this device.
        case incoming
        /// The user answered, and the server has not stored the answer.
        case joining
        case active
        case over(Reason)
    }

    /// The reason why the call ended on this device.
    package enum Reason: Sendable, Hashable, CaseIterable {
        case hungUp, noAnswer, declined, busy, missed, elsewhere, ended, lost, full, failed, unsupported
    }

    package enum Action: Sendable, Equatable {
        /// Show that the call rings for the other users.
        case ring
        /// Report `accepted`, and pass the result to `joined`.
        case accept
        /// Connect to the other devices.
        case connect
        /// Close the connections and the media.
        case end
        case doNothing
    }

    package private(set) var phase: Phase
    private var isCaller: Bool
    private let isGroup: Bool

    /// - Parameter phase: `starting` or `incoming`.
    package init(_ phase: Phase, isGroup: Bool) {
        self.phase = phase
        self.isCaller = phase == .starting
        self.isGroup = isGroup
    }

    package var isOver: Bool { if case .over = self.phase { true } else { false } }

    /// Handles the answer to `call.start`.
    ///
    /// - Parameter isOwn: Whether the call was started by this request. If not, the device joins a
    ///   running call.
    package mutating func started(isOwn: Bool) -> Action {
        guard self.phase == .starting else { return .doNothing }
        self.phase = isOwn ? .outgoing : .joining
        if !isOwn { self.isCaller = false }
        return isOwn ? .ring : .accept
    }

    /// Handles the acceptance of the call by the user.
    package mutating func answered() -> Action {
        guard self.phase == .incoming else { return .doNothing }
        self.phase = .joining
        return .accept
    }

    /// Handles an answer that could not be sent, or media that could not be opened. The call still
    /// rings.
    package mutating func answerFailed() { if self.phase == .joining { self.phase = .incoming } }

    /// Handles the server's response to the `accept` action.
    ///
    /// - Parameter counts: Whether this device takes part: it was the first device of the user to
    ///   answer, or several devices of a user can take part.
    package mutating func joined(counts: Bool) -> Action {
        guard self.phase == .joining else { return .doNothing }
        guard counts else { return self.end(.elsewhere) }
        self.phase = .active
        return .connect
    }

    /// Handles another device that announced itself before the log reported its answer.
    package mutating func connected() -> Action {
        guard self.phase == .outgoing else { return .doNothing }
        self.phase = .active
        return .connect
    }

    /// Handles a state that the log reports.
    ///
    /// - Parameter isOwn: Whether a device of this user reported the state.
    package mutating func told(_ state: CallState, isOwn: Bool) -> Action {
        guard !self.isOver else { return .doNothing }
        switch state {
        case .ended: return self.end(.ended)
        case .declined: return self.end(.declined)
        case .busy: return self.end(.busy)
        case .missed: return self.end(self.isCaller ? .noAnswer : .missed)
        case .accepted: return self.accepted(isOwn: isOwn)
        case .ringing, .unknown: return .doNothing
        }
    }

    private mutating func accepted(isOwn: Bool) -> Action {
        switch self.phase {
        case .outgoing where !isOwn || self.isGroup:
            self.phase = .active
            return .connect
        case .incoming where isOwn: return self.end(.elsewhere)
        // While `joining`, the answer of the server determines which device was first.
        case .starting, .outgoing, .incoming, .joining, .active, .over: return .doNothing
        }
    }

    /// Ends the call on this device.
    package mutating func ended(_ reason: Reason) -> Action { self.isOver ? .doNothing : self.end(reason) }

    private mutating func end(_ reason: Reason) -> Action {
        self.phase = .over(reason)
        return .end
    }
}
