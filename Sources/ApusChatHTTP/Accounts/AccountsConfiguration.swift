import ApusChatCore
package import ApusChatProtocol
package import ApusPasswords

/// The settings of accounts and sessions.
package struct AccountsConfiguration: Sendable {
    /// The users who can create accounts. Default: all users.
    package var registration = Registration.open
    /// The name of the server, which authenticators show. Default: Apus.
    package var serverName = "Apus"
    /// The validity of an access token, in milliseconds. Default: 15 minutes.
    package var accessLifetime: Int64 = 900_000
    /// The time without a renewal after which a session expires, in milliseconds. Default: 30 days.
    package var sessionLifetime: Int64 = 30 * 86_400_000
    /// The validity of the code of an operator's link, in milliseconds. Default: a day.
    package var resetLifetime: Int64 = 86_400_000
    /// Whether rates are limited. Only load tests disable the limits.
    package var hasLimits = true
    /// The cost of hashing a password. Default: one of the settings that OWASP recommends (2023),
    /// with 16 MiB for each hash. A debug build uses a tenth of that cost.
    package var passwordCost = Self.standardCost

    private static var standardCost: ScryptHash.Cost {
        #if DEBUG
            ScryptHash.Cost(logRounds: 13)
        #else
            ScryptHash.Cost(logRounds: 14, blockSize: 8, parallelism: 5)
        #endif
    }

    package init() {}
}

/// The clocks that accounts use.
package struct AccountsClock: Sendable {
    /// Returns the time of the wall clock, in milliseconds since 1970.
    package var now: @Sendable () -> Int64
    /// Returns the time of a monotonic clock, in milliseconds.
    package var elapsed: @Sendable () -> Int64
    /// Returns whether the wall clock is trusted. If not, the ages of sessions are not evaluated.
    package var isTrusted: @Sendable () -> Bool

    package init(
        now: @escaping @Sendable () -> Int64, elapsed: @escaping @Sendable () -> Int64, isTrusted: @escaping @Sendable () -> Bool = { true }
    ) {
        self.now = now
        self.elapsed = elapsed
        self.isTrusted = isTrusted
    }
}
