import ApusConnectivity
import NIOConcurrencyHelpers
import Testing

@Suite struct ByteBudgetTests {
    private final class Connection {
        let closed = NIOLockedValueBox(0)
        var account = ByteAccount()
        let budget: ByteBudget

        init(_ budget: ByteBudget) {
            self.budget = budget
        }

        func hold(_ bytes: Int) {
            self.account.set(bytes, in: self.budget, for: self) { [closed] in { closed.withLockedValue { $0 += 1 } } }
        }

        var closings: Int { self.closed.withLockedValue { $0 } }
    }

    private static let grain = ByteAccount.grain

    @Test func theLargestIsClosedOnce() {
        let budget = ByteBudget(maximum: 10 * Self.grain)
        let (large, small) = (Connection(budget), Connection(budget))
        large.hold(8 * Self.grain)
        #expect(budget.isNearlyFull)
        small.hold(3 * Self.grain)
        #expect((large.closings, small.closings) == (1, 0))
        large.hold(9 * Self.grain)
        #expect(large.closings == 1)
        large.hold(0)
        #expect(budget.held == 3 * Self.grain)
        #expect(!budget.isNearlyFull)
    }

    @Test func bytesBelowTheGrainAreNotCounted() {
        let budget = ByteBudget(maximum: 1)
        let connection = Connection(budget)
        connection.hold(Self.grain - 1)
        #expect(connection.account.isEmpty)
        #expect(budget.held == 0)
        connection.hold(Self.grain)
        #expect(connection.closings == 1)
        connection.hold(1)
        #expect(budget.held == 0)
    }
}
