package import ApusChatStorage
import NIOConcurrencyHelpers

/// The users that are announced as online, and when the others left. Only the hub changes the book;
/// any thread can read it.
package final class PresenceBook: Sendable {
    private struct State {
        var online: Set<UserKey> = []
        var departures: [UserKey: Int64] = [:]
    }

    /// The maximum number of departures. The session of a user is renewed every few minutes, and
    /// the storage then has an approximate time.
    private static let maximumDepartures = 100_000

    private let state = NIOLockedValueBox(State())

    package init() {}

    package func isOnline(_ user: UserKey) -> Bool { self.state.withLockedValue { $0.online.contains(user) } }

    /// Returns the time at which the last connection of a user ended, in milliseconds since 1970;
    /// nil if the user was not online since the start of the server.
    func departure(of user: UserKey) -> Int64? { self.state.withLockedValue { $0.departures[user] } }

    /// - Parameter time: The time at which the last connection of the user ended.
    func set(_ user: UserKey, isOnline: Bool, at time: Int64) {
        self.state.withLockedValue { state in
            if isOnline {
                state.online.insert(user)
            } else if state.online.remove(user) != nil {
                if state.departures.count >= Self.maximumDepartures { state.departures = [:] }
                state.departures[user] = time
            }
        }
    }
}
