package import ApusChatStorage

/// Decides when to announce that users are online or offline.
///
/// A user is online while at least one device is connected. The offline state is announced after a
/// grace period, so that a reconnection is not visible. All times are milliseconds of a monotonic
/// clock.
package struct PresenceMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Announce the state to the users who may see it.
        case announce(UserKey, isOnline: Bool)
        /// Call `timerFired` after this time.
        case schedule(after: Duration)
    }

    private struct Person {
        var connections = 0
        /// The time at which the last connection ended; nil while the user has one.
        var offlineSince: Int64?
    }

    /// The time after which a user without a connection is announced as offline, in milliseconds.
    package static let grace: Int64 = 10_000

    private var people: [UserKey: Person] = [:]
    /// The users in the grace period, in the order in which it ends.
    private var leaving: [(user: UserKey, since: Int64)] = []
    private var isScheduled = false

    package init() {}

    package func isOnline(_ user: UserKey) -> Bool { self.people[user] != nil }

    package mutating func connected(_ user: UserKey) -> [Action] {
        guard self.people[user] != nil else {
            self.people[user] = Person(connections: 1)
            return [.announce(user, isOnline: true)]
        }
        self.people[user]?.connections += 1
        self.people[user]?.offlineSince = nil
        return []
    }

    package mutating func disconnected(_ user: UserKey, at time: Int64) -> [Action] {
        guard let person = self.people[user], person.connections > 0 else { return [] }
        self.people[user]?.connections -= 1
        guard person.connections == 1 else { return [] }
        self.people[user]?.offlineSince = time
        self.leaving.append((user, time))
        return self.scheduled(at: time)
    }

    package mutating func timerFired(at time: Int64) -> [Action] {
        self.isScheduled = false
        var actions: [Action] = []
        var count = 0
        for (user, since) in self.leaving {
            guard time.elapsed(since: since) >= Self.grace else { break }
            count += 1
            // The user has reconnected. After a further disconnect, a later entry applies.
            guard self.people[user]?.offlineSince == since else { continue }
            self.people[user] = nil
            actions.append(.announce(user, isOnline: false))
        }
        self.leaving.removeFirst(count)
        return actions + self.scheduled(at: time)
    }

    private mutating func scheduled(at time: Int64) -> [Action] {
        guard !self.isScheduled, let first = self.leaving.first else { return [] }
        self.isScheduled = true
        return [.schedule(after: .milliseconds(max(0, Self.grace - time.elapsed(since: first.since))))]
    }
}
