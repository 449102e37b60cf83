package import ApusChatStorage

/// Collects the users whose profile changed. Repeated changes of a profile are sent once, and the
/// number of profiles that are sent in one turn is bounded.
package struct ProfileDigest: Sendable {
    package enum Action: Sendable, Equatable {
        /// Call `timerFired` after this time.
        case schedule(after: Duration)
        /// A timer already runs, or no timer is required.
        case doNothing
    }

    /// The time between two turns, in milliseconds.
    package static let interval: Int64 = 1_000
    /// The maximum number of users whose profiles are sent in one turn.
    package static let users = 4
    /// The maximum number of waiting users. Further changes are not pushed; clients receive them
    /// with their next request.
    package static let waiting = 10_000
    /// The maximum number of users who receive one changed profile.
    package static let recipients = 500

    private var changed: [UserKey] = []
    private var known: Set<UserKey> = []
    private var isScheduled = false

    package init() {}

    package mutating func committed(_ batch: DecidedBatch) -> Action {
        for case .profile(let user) in batch.pushes where self.known.count < Self.waiting {
            if self.known.insert(user).inserted { self.changed.append(user) }
        }
        return self.schedule()
    }

    /// Returns the users whose profiles are sent now, in the order of their first changes.
    package mutating func timerFired() -> (told: [UserKey], next: Action) {
        self.isScheduled = false
        let told = Array(self.changed.prefix(Self.users))
        self.changed.removeFirst(told.count)
        self.known.subtract(told)
        return (told, self.schedule())
    }

    private mutating func schedule() -> Action {
        guard !self.isScheduled, !self.changed.isEmpty else { return .doNothing }
        self.isScheduled = true
        return .schedule(after: .milliseconds(Self.interval))
    }
}
