package import ApusChatProtocol
package import ApusChatStorage

/// One call while it rings and takes place: which devices ring, who takes part, when it is over.
///
/// The states that a conversation shows are recorded as commands (`startCall`, `updateCall`); this
/// machine decides when. The media flows between the devices.
package struct CallMachine: Sendable {
    /// A device of a user, as a party of a call.
    package struct Party: Hashable, Sendable {
        package let user: UserKey
        package let device: DeviceKey

        package init(_ user: UserKey, _ device: DeviceKey) {
            self.user = user
            self.device = device
        }
    }

    package enum Action: Sendable, Equatable {
        case ring([UserKey])
        /// Stop the ringing of all devices of a user but one.
        case stopRinging(UserKey, except: DeviceKey?)
        /// Record the state in the log of the conversation.
        case record(CallState)
        /// Call `ringTimerFired` after this time.
        case scheduleRingTimer(after: Duration)
    }

    /// The time after which a ring that is not answered ends.
    package static let ringTime = Duration.seconds(45)

    package let caller: Party
    /// The users that ring and have not answered.
    package private(set) var ringing: Set<UserKey>
    package private(set) var parties: [Party]
    /// What the log of the conversation shows.
    package private(set) var state = CallState.ringing
    private var isBusy = false

    package init(caller: Party, callees: [UserKey]) {
        self.caller = caller
        self.ringing = Set(callees).subtracting([caller.user])
        self.parties = [caller]
    }

    /// Whether nothing can change any more.
    package var isOver: Bool { self.state != .ringing && self.state != .accepted }

    package mutating func started() -> [Action] {
        guard !self.ringing.isEmpty else { return self.end(as: .missed) }
        return [.ring(self.ringing.sorted()), .scheduleRingTimer(after: Self.ringTime)]
    }

    /// A user that calls while being called accepts: two calls that cross become one.
    package mutating func accepted(by party: Party) -> [Action] {
        guard !self.isOver, !self.parties.contains(party) else { return [] }
        // A user takes part with one device; the others stop ringing.
        guard !self.parties.contains(where: { $0.user == party.user }) else { return [] }
        let rang = self.ringing.remove(party.user) != nil
        self.parties.append(party)
        var actions: [Action] = rang ? [.stopRinging(party.user, except: party.device)] : []
        if self.state == .ringing {
            self.state = .accepted
            actions.append(.record(.accepted))
        }
        return actions
    }

    package mutating func declined(by user: UserKey) -> [Action] { self.refused(by: user, isBusy: false) }

    /// The user is in another call.
    package mutating func busy(_ user: UserKey) -> [Action] { self.refused(by: user, isBusy: true) }

    /// A party hung up, or its connection did not return.
    package mutating func left(_ party: Party) -> [Action] {
        guard !self.isOver, let index = self.parties.firstIndex(of: party) else { return [] }
        self.parties.remove(at: index)
        switch self.state {
        case .ringing: return self.end(as: .missed)  // the caller: the only party of a ringing call
        case .accepted: return self.parties.count < 2 ? self.end(as: .ended) : []
        case .ended, .missed, .declined, .busy, .unknown: return []
        }
    }

    package mutating func ringTimerFired() -> [Action] {
        switch self.state {
        case .ringing: return self.end(as: .missed)
        case .accepted:
            let stopped = self.ringing.sorted().map { Action.stopRinging($0, except: nil) }
            self.ringing.removeAll()
            return stopped
        case .ended, .missed, .declined, .busy, .unknown: return []
        }
    }

    /// Whether a signal may pass: between parties, and between the caller and users that ring.
    package func maySignal(from party: Party, to user: UserKey) -> Bool {
        guard !self.isOver, party.user != user else { return false }
        let knowsSender = self.parties.contains(party) || self.ringing.contains(party.user)
        let knowsRecipient = self.parties.contains { $0.user == user } || self.ringing.contains(user)
        return knowsSender && knowsRecipient
    }

    private mutating func refused(by user: UserKey, isBusy: Bool) -> [Action] {
        guard !self.isOver, self.ringing.remove(user) != nil else { return [] }
        self.isBusy = isBusy
        let stop = Action.stopRinging(user, except: nil)
        guard self.ringing.isEmpty, self.state == .ringing else { return [stop] }
        return [stop] + self.end(as: self.isBusy ? .busy : .declined)
    }

    private mutating func end(as state: CallState) -> [Action] {
        let stopped = self.ringing.sorted().map { Action.stopRinging($0, except: nil) }
        self.ringing.removeAll()
        self.parties.removeAll()
        self.state = state
        return stopped + [.record(state)]
    }
}
