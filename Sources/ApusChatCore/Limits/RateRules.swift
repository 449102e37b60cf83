package import ApusChatStorage

/// An action whose rate is limited.
package enum RateAction: String, CaseIterable, Sendable {
    /// A message or another change of a log.
    case change
    /// Any other request of a session.
    case request
    /// A new connection.
    case connection
    /// A sign-in with a password.
    case signIn
    /// A renewal or an end of a session, each of which is synced to disk.
    case session
    /// A new account.
    case registration
    /// A new upload.
    case upload
    /// A search of users or messages.
    case search
    /// An export of the data of an account.
    case export

    package var name: String {
        switch self {
        case .change: "message or change"
        case .request: "other request"
        case .connection: "connection"
        case .signIn: "sign-in with a password"
        case .session: "renewal or end of a session"
        case .registration: "registration"
        case .upload: "upload"
        case .search: "search"
        case .export: "export of the data of an account"
        }
    }
}

/// The kinds of owners of budgets.
package enum RateScope: String, CaseIterable, Sendable {
    case account, device, address
    /// A block of addresses of one subscriber or site: an IPv4 /24 or an IPv6 /48.
    case block
}

/// An owner of budgets. An address is an IPv4 address mapped into 64 bits, or the first 64 bits of
/// an IPv6 address, because a subscriber usually has a /64.
package enum RateKey: Hashable, Sendable {
    case account(UserKey)
    case device(DeviceKey)
    case address(UInt64)
    case block(UInt64)

    package var scope: RateScope {
        switch self {
        case .account: .account
        case .device: .device
        case .address: .address
        case .block: .block
        }
    }
}

/// The rates of all budgets.
package struct RateRules: Sendable {
    private var rates: [RateAction: [RateScope: TokenBucket.Rate]] = [:]

    /// No limits, for load tests.
    package static let off = RateRules()

    package var isEmpty: Bool { self.rates.isEmpty }

    /// The default rates, which `docs/chat-limits.md` lists.
    package static let standard: RateRules = {
        var rules = RateRules()
        rules[.change, .account] = .init(burst: 100, 20, per: .seconds(1))
        rules[.change, .device] = .init(burst: 100, 20, per: .seconds(1))
        rules[.request, .account] = .init(burst: 200, 50, per: .seconds(1))
        rules[.connection, .account] = .init(burst: 20, 1, per: .seconds(5))
        rules[.connection, .address] = .init(burst: 100, 5, per: .seconds(1))
        rules[.connection, .block] = .init(burst: 1_000, 50, per: .seconds(1))
        rules[.signIn, .account] = .init(burst: 10, 1, per: .seconds(30))
        // A known device has its own budget, which sign-in attempts of other devices do not
        // exhaust.
        rules[.signIn, .device] = .init(burst: 10, 1, per: .seconds(30))
        rules[.signIn, .address] = .init(burst: 20, 1, per: .seconds(10))
        rules[.signIn, .block] = .init(burst: 200, 1, per: .seconds(1))
        rules[.session, .device] = .init(burst: 20, 1, per: .seconds(10))
        rules[.session, .address] = .init(burst: 200, 10, per: .seconds(1))
        rules[.session, .block] = .init(burst: 2_000, 100, per: .seconds(1))
        rules[.registration, .address] = .init(burst: 5, 1, per: .seconds(600))
        rules[.registration, .block] = .init(burst: 50, 1, per: .seconds(60))
        rules[.upload, .account] = .init(burst: 50, 1, per: .seconds(2))
        rules[.upload, .address] = .init(burst: 200, 2, per: .seconds(1))
        rules[.search, .account] = .init(burst: 10, 1, per: .seconds(1))
        rules[.export, .account] = .init(burst: 3, 1, per: .seconds(6 * 3_600))
        return rules
    }()

    package subscript(action: RateAction, scope: RateScope) -> TokenBucket.Rate? {
        get { self.rates[action]?[scope] }
        set { self.rates[action, default: [:]][scope] = newValue }
    }
}
