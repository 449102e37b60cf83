package import ApusPasswords

extension ChatServerConfiguration {
    /// The clocks, times and networks that the settings of an operator do not change. Tests replace
    /// them.
    package struct Environment: Sendable {
        package var clock = SystemClock.machine
        /// The cost of the password hash; nil for the default.
        package var passwordCost: ScryptHash.Cost?
        /// The time between a message and the decision about its notification.
        package var noticeDelay = Duration.milliseconds(1_500)
        /// The maximum times for a linked page with all its redirects, and for each connection.
        package var pageTimeouts = (all: Duration.seconds(8), connection: Duration.seconds(4))
        /// Networks to which the server may connect for clients although they are not public: IP
        /// addresses and networks in CIDR notation.
        package var outgoingNetworks: [String] = []
        /// PEM certificates of additional authorities for push services and pages.
        package var outgoingAuthorities: String?
    }
}
