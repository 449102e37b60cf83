package import ApusChatStorage
import NIOConcurrencyHelpers

/// The users that are announced as online. Only the hub changes the set; any thread can read it.
package final class PresenceBook: Sendable {
    private let online = NIOLockedValueBox<Set<UserKey>>([])

    package init() {}

    package func isOnline(_ user: UserKey) -> Bool { self.online.withLockedValue { $0.contains(user) } }

    func set(_ user: UserKey, isOnline: Bool) {
        self.online.withLockedValue { online in
            if isOnline { online.insert(user) } else { online.remove(user) }
        }
    }
}
