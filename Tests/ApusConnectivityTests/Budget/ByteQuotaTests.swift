import ApusConnectivity
import Testing

@Suite struct ByteQuotaTests {
    @Test func holdersAreCountedUntilTheyHoldNothing() {
        var quota = ByteQuota<String>(maximum: 1000)
        #expect(quota.set(300, for: "a").isEmpty)
        #expect(quota.set(200, for: "b").isEmpty)
        #expect(quota.set(100, for: "a").isEmpty)
        #expect(quota.held == 300)
        #expect(quota.set(0, for: "a").isEmpty)
        #expect(quota.set(0, for: "b").isEmpty)
        #expect(quota.set(0, for: "c").isEmpty)  // held nothing before
        #expect(quota.held == 0)
        #expect(quota.holderCount == 0)
    }

    @Test func exactlyTheMaximumMayBeHeld() {
        var quota = ByteQuota<Int>(maximum: 1000)
        #expect(quota.set(1000, for: 1).isEmpty)
        #expect(quota.set(1001, for: 1) == [1])
    }

    @Test func theLargestAreClosedFirstUntilAnEighthIsFree() {
        var quota = ByteQuota<String>(maximum: 800)
        for (holder, bytes) in [("a", 100), ("b", 250), ("c", 200), ("d", 240)] { #expect(quota.set(bytes, for: holder).isEmpty) }
        #expect(quota.set(120, for: "a") == ["b"])  // 810 held, 700 allowed afterwards
        #expect(quota.held == 560)
        #expect(quota.closing == 250)
        #expect(quota.set(600, for: "a") == ["a"])
        #expect(quota.held == 440)
    }

    @Test func theLargestHolderIsClosedAndNotTheLatest() {
        var quota = ByteQuota<String>(maximum: 100)
        _ = quota.set(90, for: "large")
        #expect(quota.set(20, for: "small") == ["large"])
    }

    /// The bytes of a closing connection do not close other connections, and no connection is
    /// closed twice.
    @Test func closingHoldersAreCountedSeparately() {
        var quota = ByteQuota<String>(maximum: 100)
        _ = quota.set(90, for: "a")
        #expect(quota.set(20, for: "b") == ["a"])
        #expect(quota.set(95, for: "a").isEmpty)
        #expect(quota.closing == 95)
        #expect(quota.set(60, for: "c").isEmpty)
        #expect(quota.set(0, for: "a").isEmpty)
        #expect(quota.closing == 0)
        #expect(quota.held == 80)
        // The holder may hold bytes again.
        #expect(quota.set(1, for: "a").isEmpty)
        #expect(quota.held == 81)
    }

    @Test func newConnectionsAreRefusedAboveThreeQuarters() {
        var quota = ByteQuota<String>(maximum: 1000)
        _ = quota.set(750, for: "a")
        #expect(!quota.isNearlyFull)
        _ = quota.set(1, for: "b")
        #expect(quota.isNearlyFull)
        #expect(quota.set(300, for: "b") == ["a"])
        #expect(quota.isNearlyFull)  // until the connection has closed
        _ = quota.set(0, for: "a")
        #expect(!quota.isNearlyFull)
    }

    @Test func manySmallHoldersAreLimitedToo() {
        var quota = ByteQuota<Int>(maximum: 1000)
        var closed = 0
        for holder in 0..<1000 { closed += quota.set(10, for: holder).count }
        #expect(quota.held <= 1000)
        #expect(quota.held > 800)
        #expect(closed == 1000 - quota.held / 10)
    }
}
