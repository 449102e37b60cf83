import ApusChatProtocol
import ApusConnectivity
import NIOConcurrencyHelpers

/// A bounded number of places, with a bound for each user.
final class Places: Sendable {
    private let quota: NIOLockedValueBox<ConnectionQuota>

    init(maximum: Int, maximumPerUser: Int) {
        self.quota = NIOLockedValueBox(ConnectionQuota(maximum: maximum, maximumPerAddress: maximumPerUser))
    }

    /// Takes a place, which is released with its last reference. Returns nil when all places, or
    /// all of the user's, are taken.
    func take(for user: UserID) -> Place? {
        self.quota.withLockedValue({ $0.opened(from: user.rawValue) }) == nil ? Place(self.quota, user) : nil
    }

    final class Place: Sendable {
        private let quota: NIOLockedValueBox<ConnectionQuota>
        private let user: UserID

        fileprivate init(_ quota: NIOLockedValueBox<ConnectionQuota>, _ user: UserID) {
            self.quota = quota
            self.user = user
        }

        deinit { self.quota.withLockedValue { $0.closed(from: self.user.rawValue) } }
    }
}
