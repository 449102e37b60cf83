import ApusChatCore
package import ApusChatProtocol
package import ApusSocketIOServer

/// The settings of accounts and sessions.
package struct AccountsConfiguration: Sendable {
    /// Whether users can create accounts. Default: yes.
    package var registration = Registration.open
    /// The name of the server, which authenticators show. Default: Apus.
    package var serverName = "Apus"
    /// The time for which an access token is valid. Default: 15 minutes.
    package var accessLifetime: Int64 = 900_000
    /// The time without a renewal after which a session ends. Default: 30 days.
    package var sessionLifetime: Int64 = 30 * 86_400_000
    /// The time for which the code of an operator's link is valid. Default: a day.
    package var resetLifetime: Int64 = 86_400_000
    /// Whether budgets apply. Only load tests turn them off.
    package var hasLimits = true
    /// The cost of hashing a password. Default: one of the settings that OWASP recommends (2023),
    /// with 16 MiB for each hash; in a debug build a tenth of that.
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

/// The times that accounts need.
package struct AccountsClock: Sendable {
    /// Milliseconds since 1970.
    package var now: @Sendable () -> Int64
    /// Milliseconds of a clock that never jumps.
    package var elapsed: @Sendable () -> Int64
    /// False after a leap of the clock, when no age of a session is believed.
    package var isTrusted: @Sendable () -> Bool

    package init(
        now: @escaping @Sendable () -> Int64, elapsed: @escaping @Sendable () -> Int64, isTrusted: @escaping @Sendable () -> Bool = { true }
    ) {
        self.now = now
        self.elapsed = elapsed
        self.isTrusted = isTrusted
    }
}
