import ApusChatProtocol
import ApusConnectivity
import NIOConcurrencyHelpers

/// A bounded number of permits, with a limit for each user.
final class Places: Sendable {
    private let quota: NIOLockedValueBox<ConnectionQuota>

    init(maximum: Int, maximumPerUser: Int) {
        self.quota = NIOLockedValueBox(ConnectionQuota(maximum: maximum, maximumPerAddress: maximumPerUser))
    }

    /// Takes a permit, which is released with its last reference. Returns nil if the total or the
    /// user's limit is reached.
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
