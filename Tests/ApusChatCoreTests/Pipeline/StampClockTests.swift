import ApusChatCore
import Testing

@Suite struct StampClockTests {
    private static let year: Int64 = 31_536_000_000
    private let start: Int64 = 1_700_000_000_000

    private func clock() -> StampClock { StampClock(wall: self.start, monotonic: 0) }

    @Test func aGoodClockIsFollowed() {
        var clock = self.clock()
        for time in [1, 10, 1_000, 90_000] as [Int64] {
            #expect(clock.stamp(wall: self.start + time, monotonic: time) == self.start + time)
        }
    }

    @Test func stampsDoNotDecreaseWithSmallSteps() {
        var clock = self.clock()
        #expect(clock.stamp(wall: self.start + 500, monotonic: 10) == self.start + 500)
        #expect(clock.stamp(wall: self.start + 100, monotonic: 20) == self.start + 500)
        #expect(clock.isTrusted)
    }

    @Test(arguments: [Self.year, -Self.year, Int64.max / 2]) func oneBadReadingMovesNothing(jump: Int64) {
        var clock = self.clock()
        let bad = clock.stamp(wall: self.start + jump, monotonic: 100)
        #expect(abs(bad - (self.start + 100)) <= StampClock.tolerance)
        #expect(!clock.isTrusted)
        #expect(clock.stamp(wall: self.start + 200, monotonic: 200) == self.start + 200)
        #expect(clock.isTrusted)
    }

    @Test func aLastingJumpIsFollowedAfterTenSeconds() {
        var clock = self.clock()
        for time in stride(from: Int64(0), to: 10_000, by: 500) {
            #expect(clock.stamp(wall: self.start + Self.year + time, monotonic: time) == self.start + time)
        }
        #expect(clock.stamp(wall: self.start + Self.year + 10_000, monotonic: 10_000) == self.start + Self.year + 10_000)
        // And back, without dating later messages by the wrong year.
        _ = clock.stamp(wall: self.start + 11_000, monotonic: 11_000)
        #expect(clock.stamp(wall: self.start + 21_000, monotonic: 21_000) == self.start + 21_000)
        #expect(clock.isTrusted)
    }

    @Test func changingJumpsAreNotFollowed() {
        var clock = self.clock()
        for time in stride(from: Int64(1_000), to: 60_000, by: 1_000) {
            let jump = time % 2_000 == 0 ? Self.year : -Self.year
            #expect(clock.stamp(wall: self.start + jump + time, monotonic: time) == self.start + time)
        }
    }

    @Test(arguments: [Int64.min, .max, 0, -1]) func noReadingTraps(wall: Int64) {
        var clock = self.clock()
        _ = clock.stamp(wall: wall, monotonic: 0)
        _ = clock.stamp(wall: wall, monotonic: -5)
        #expect(clock.stamp(wall: self.start + 1, monotonic: 1) == self.start + 1)
    }
}
