package import ApusChatStorage
import DequeModule
import NIOConcurrencyHelpers

/// The users who are announced as online, and when the others left. Only the hub changes the book;
/// any thread can read it.
package final class PresenceBook: Sendable {
    private struct Departure {
        var time: Int64
        /// The number of the departure, by which its entry in `State.order` is recognized.
        var number: UInt64
    }

    private struct State {
        var online: Set<UserKey> = []
        var departures: [UserKey: Departure] = [:]
        /// The departures in their order. Those that a later one of the same user replaced remain
        /// until they are the oldest ones, or until `order` has twice the maximum number.
        var order: Deque<(user: UserKey, number: UInt64)> = []
        var lastNumber: UInt64 = 0

        func isCurrent(_ entry: (user: UserKey, number: UInt64)) -> Bool { self.departures[entry.user]?.number == entry.number }

        mutating func departed(_ user: UserKey, at time: Int64, maximum: Int) {
            self.lastNumber += 1
            self.departures[user] = Departure(time: time, number: self.lastNumber)
            self.order.append((user, self.lastNumber))
            while self.departures.count > maximum, let oldest = self.order.popFirst() {
                if self.isCurrent(oldest) { self.departures[oldest.user] = nil }
            }
            if self.order.count > 2 * maximum { self.order = Deque(self.order.filter(self.isCurrent)) }
        }
    }

    private let maximumDepartures: Int
    private let state = NIOLockedValueBox(State())

    /// - Parameter maximumDepartures: The maximum number of departures. Beyond it, the oldest ones
    ///   are discarded. The session of a user is renewed every few minutes, and the storage then
    ///   has an approximate time.
    package init(maximumDepartures: Int = 100_000) { self.maximumDepartures = maximumDepartures }

    package func isOnline(_ user: UserKey) -> Bool { self.state.withLockedValue { $0.online.contains(user) } }

    /// Returns the time at which the last connection of a user ended, in milliseconds since 1970;
    /// nil if the user was not online since the start of the server, or if the departure is no
    /// longer stored.
    func departure(of user: UserKey) -> Int64? { self.state.withLockedValue { $0.departures[user]?.time } }

    /// The number of entries that the order of the departures has.
    var orderCount: Int { self.state.withLockedValue { $0.order.count } }

    /// - Parameter time: The time at which the last connection of the user ended.
    func set(_ user: UserKey, isOnline: Bool, at time: Int64) {
        self.state.withLockedValue { state in
            if isOnline {
                state.online.insert(user)
            } else if state.online.remove(user) != nil {
                state.departed(user, at: time, maximum: self.maximumDepartures)
            }
        }
    }
}
