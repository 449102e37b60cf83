import ApusChatCore
import ApusChatStorage
import Foundation
import Testing

@Suite struct RateBudgetTests {
    private let ann = RateKey.account(UserKey(1))
    private let bob = RateKey.account(UserKey(2))
    private let address = RateKey.address(5)

    private func rules(_ configure: (inout RateRules) -> Void) -> RateRules {
        var rules = RateRules.off
        configure(&rules)
        return rules
    }

    private func allowed(_ budget: inout RateBudget, _ keys: [RateKey], at time: Int64, of attempts: Int) -> Int {
        (0..<attempts).count { _ in budget.charge(.change, to: keys, at: time) == .allowed }
    }

    @Test func aBurstThenARate() {
        var budget = RateBudget()
        #expect(self.allowed(&budget, [self.ann], at: 0, of: 200) == 100)
        #expect(budget.charge(.change, to: [self.ann], at: 0) == .refused(retryAfter: 50))
        #expect(budget.charge(.change, to: [self.ann], at: 49) == .refused(retryAfter: 1))
        #expect(budget.charge(.change, to: [self.ann], at: 50) == .allowed)
        #expect(self.allowed(&budget, [self.ann], at: 1_050, of: 200) == 20)
        #expect(self.allowed(&budget, [self.ann], at: 1_000_000, of: 200) == 100, "no more than the burst is saved")
        #expect(self.allowed(&budget, [self.bob], at: 0, of: 200) == 100, "others have budgets of their own")
    }

    @Test func refusalsAreNotCharged() {
        var budget = RateBudget(
            rules: self.rules {
                $0[.change, .account] = .init(burst: 10, 1, per: .seconds(1))
                $0[.change, .address] = .init(burst: 1, 1, per: .seconds(100))
            })
        #expect(budget.charge(.change, to: [self.ann, self.address], at: 0) == .allowed)
        #expect(budget.charge(.change, to: [self.ann, self.address], at: 0) == .refused(retryAfter: 100_000))
        #expect(self.allowed(&budget, [self.ann], at: 0, of: 20) == 9)
    }

    @Test func aCostAboveTheBurstNeedsAFullBucket() {
        var budget = RateBudget(rules: self.rules { $0[.upload, .account] = .init(burst: 2, 1, per: .seconds(1)) })
        #expect(budget.charge(.upload, to: [self.ann], cost: 5, at: 0) == .allowed)
        #expect(budget.charge(.upload, to: [self.ann], cost: 1, at: 0) == .refused(retryAfter: 4_000))
    }

    @Test func theNumberOfBucketsIsBounded() {
        var budget = RateBudget(rules: self.rules { $0[.signIn, .address] = .init(burst: 1, 1, per: .seconds(1)) }, capacity: 3)
        for address in 0..<3 as Range<UInt64> { #expect(budget.charge(.signIn, to: [.address(address)], at: 0) == .allowed) }
        #expect(budget.charge(.signIn, to: [.address(9)], at: 500) == .refused(retryAfter: 1_000))
        #expect(budget.count == 3)
        #expect(budget.charge(.signIn, to: [.address(9)], at: 1_500) == .allowed, "the others are full again")
        #expect(budget.count == 1)
    }

    @Test func withoutRulesAllIsAllowedAndNothingKept() {
        var budget = RateBudget(rules: .off)
        #expect(self.allowed(&budget, [self.ann], at: 0, of: 1_000) == 1_000)
        #expect(budget.count == 0)
    }

    @Test(arguments: [Int64.min, -1, 0, .max]) func noTimeTraps(time: Int64) {
        var budget = RateBudget()
        _ = budget.charge(.change, to: [self.ann], at: time)
        _ = budget.charge(.change, to: [self.ann], at: 0)
        _ = budget.charge(.registration, to: [self.address], at: .max)
        _ = budget.charge(.registration, to: [self.address], at: .min)
    }

    @Test func thePageMatchesTheCode() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/chat-limits.md").standardized
        if ProcessInfo.processInfo.environment["APUS_UPDATE_DOCS"] == "1" {
            try RateRules.page.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == RateRules.page, "APUS_UPDATE_DOCS=1 writes the page")
    }
}
