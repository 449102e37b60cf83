import ApusChatCore
import ApusChatStorage
import Testing

/// The default rates, and what they permit to an account, an address and a block.
@Suite struct RateRuleTests {
    private static let key: [RateScope: RateKey] = [
        .account: .account(UserKey(1)), .device: .device(DeviceKey(1)), .address: .address(1), .block: .block(1),
    ]

    /// The rules that docs/chat-limits.md promises: the action, the owner, the burst, and the time
    /// in milliseconds until one further use.
    private static let rules: [(action: RateAction, scope: RateScope, burst: Int, wait: Int64)] = [
        (.change, .account, 100, 50), (.change, .device, 100, 50), (.request, .account, 200, 20), (.connection, .account, 20, 5_000),
        (.connection, .address, 100, 200), (.connection, .block, 1_000, 20), (.signIn, .account, 10, 30_000),
        (.signIn, .device, 10, 30_000), (.signIn, .address, 20, 10_000), (.signIn, .block, 200, 1_000), (.session, .device, 20, 10_000),
        (.session, .address, 200, 100), (.session, .block, 2_000, 10), (.registration, .address, 5, 600_000),
        (.registration, .block, 50, 60_000), (.upload, .account, 50, 2_000), (.upload, .address, 200, 500), (.search, .account, 10, 1_000),
        (.export, .account, 3, 21_600_000),
    ]

    @Test(arguments: rules.indices) func aBudgetHasItsBurstAndItsRate(index: Int) throws {
        let (action, scope, burst, wait) = Self.rules[index]
        let key = try #require(Self.key[scope])
        var budget = RateBudget()
        for use in 1...burst { #expect(budget.charge(action, to: [key], at: 0) == .allowed, "\(use)") }
        #expect(budget.charge(action, to: [key], at: 0) == .refused(retryAfter: wait))
        #expect(budget.charge(action, to: [key], at: wait - 1) == .refused(retryAfter: 1))
        #expect(budget.charge(action, to: [key], at: wait) == .allowed)
        // Another owner, and another action of the owner, are not affected.
        for other in RateAction.allCases where other != action { #expect(budget.charge(other, to: [key], at: 0) == .allowed) }
    }

    /// No rule is missing in the table above.
    @Test func otherPairsHaveNoLimit() {
        for action in RateAction.allCases {
            for scope in RateScope.allCases {
                let isListed = Self.rules.contains { $0.action == action && $0.scope == scope }
                #expect((RateRules.standard[action, scope] != nil) == isListed, "\(action) \(scope)")
            }
        }
    }

    @Test func anOwnerWithoutARuleIsNotCounted() {
        var budget = RateBudget()
        for _ in 0..<10_000 { #expect(budget.charge(.search, to: [.address(1), .block(1), .device(DeviceKey(1))], at: 0) == .allowed) }
        #expect(budget.count == 0)
    }

    /// The same number as an account, a device, an address and a block are different owners.
    @Test func ownersOfDifferentKindsAreDifferent() {
        var rules = RateRules.off
        for scope in RateScope.allCases { rules[.change, scope] = .init(burst: 1, 1, per: .seconds(1)) }
        var budget = RateBudget(rules: rules)
        for scope in RateScope.allCases {
            guard let key = Self.key[scope] else { continue }
            #expect(key.scope == scope)
            #expect(budget.charge(.change, to: [key], at: 0) == .allowed)
        }
        #expect(budget.count == 4)
    }

    /// The wait of a refusal is the longest of its owners.
    @Test func theLongestWaitIsNamed() {
        var budget = RateBudget()
        let keys: [RateKey] = [.account(UserKey(1)), .address(1), .block(1)]
        for _ in 0..<10 { #expect(budget.charge(.signIn, to: keys, at: 0) == .allowed) }
        #expect(budget.charge(.signIn, to: keys, at: 0) == .refused(retryAfter: 30_000))
        #expect(budget.charge(.signIn, to: keys, at: 29_999) == .refused(retryAfter: 1))
        #expect(budget.charge(.signIn, to: keys, at: 30_000) == .allowed)
    }

    @Test(arguments: [(0, 0, 0), (-5, -5, -5)] as [(Int64, Int64, Int64)]) func aRateIsAtLeastOne(
        burst: Int64, count: Int64, seconds: Int64
    ) {
        let rate = TokenBucket.Rate(burst: burst, count, per: .seconds(seconds))
        #expect(rate.burst == 1 && rate.count == 1 && rate.period == 1)
    }

    /// A sweep removes only buckets whose owners have their whole burst.
    @Test func aSweepChangesNoBudget() {
        var budget = RateBudget()
        let (used, idle) = (RateKey.address(1), RateKey.address(2))
        for key in [used, idle] { #expect(budget.charge(.registration, to: [key], at: 0) == .allowed) }
        for _ in 0..<4 { #expect(budget.charge(.registration, to: [used], at: 0) == .allowed) }
        budget.sweep(at: 599_999)
        #expect(budget.count == 2)
        budget.sweep(at: 600_000)
        #expect(budget.count == 1)
        #expect(budget.charge(.registration, to: [used], at: 600_000) == .allowed)
        #expect(budget.charge(.registration, to: [used], at: 600_000) == .refused(retryAfter: 600_000))
    }

    /// A time that goes backwards refills nothing, also after a sweep.
    @Test func aClockThatIsSetBackGivesNothing() {
        var budget = RateBudget()
        for _ in 0..<5 { #expect(budget.charge(.registration, to: [.address(1)], at: 1_000_000) == .allowed) }
        budget.sweep(at: 0)
        #expect(budget.count == 1)
        #expect(budget.charge(.registration, to: [.address(1)], at: 0) == .refused(retryAfter: 600_000))
    }
}
