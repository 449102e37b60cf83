import ApusChatCore
import Testing

@Suite struct StampClockTests {
    private static let year: Int64 = 31_536_000_000
    private let start: Int64 = 1_700_000_000_000

    private func clock() -> StampClock { StampClock(wall: self.start, monotonic: 0) }

    @Test func anAccurateClockIsFollowed() {
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

    @Test(arguments: [3_600_000, -3_600_000, StampClock.maximumJump]) func aLastingCorrectionIsFollowedAfterTenSeconds(jump: Int64) {
        var clock = self.clock()
        for time in stride(from: Int64(0), to: 10_000, by: 500) {
            #expect(clock.stamp(wall: self.start + jump + time, monotonic: time) == self.start + time)
            #expect(!clock.isTrusted)
        }
        #expect(clock.stamp(wall: self.start + jump + 10_000, monotonic: 10_000) == self.start + jump + 10_000)
        #expect(clock.isTrusted)
        // The clock also follows a correction back to the right time.
        _ = clock.stamp(wall: self.start + 11_000, monotonic: 11_000)
        #expect(clock.stamp(wall: self.start + 21_000, monotonic: 21_000) == self.start + 21_000)
        #expect(clock.isTrusted)
    }

    @Test(arguments: [Self.year, -Self.year, StampClock.maximumJump + 1]) func aLeapIsNeverFollowed(jump: Int64) {
        var clock = self.clock()
        for time in stride(from: Int64(1_000), to: 90_000_000, by: 1_000_000) {
            let reading = clock.read(wall: self.start + jump + time, monotonic: time)
            #expect(reading == .init(time: self.start + time, isTrusted: false))
            #expect(clock.hasLeapt == (time > 1_000), "one reading can be wrong")
        }
        // The clock is right again.
        #expect(clock.read(wall: self.start + 90_000_000, monotonic: 90_000_000) == .init(time: self.start + 90_000_000, isTrusted: true))
        #expect(!clock.hasLeapt)
    }

    /// Wrong readings that differ from each other are not a leap, even if their difference exceeds
    /// the range of the numbers.
    @Test func differentWrongReadingsAreNoLeap() {
        var clock = StampClock(wall: 0, monotonic: 0)
        for time in stride(from: Int64(0), to: 60_000, by: 500) {
            _ = clock.stamp(wall: time % 1_000 == 0 ? .max : .min + time, monotonic: time)
            #expect(!clock.hasLeapt && !clock.isTrusted)
        }
        let leap = StampClock.maximumJump + 1
        for time in [60_000, 69_999, 70_000, 80_000] as [Int64] {
            _ = clock.stamp(wall: leap + time, monotonic: time)
            #expect(clock.hasLeapt == (time >= 70_000))
        }
        _ = clock.stamp(wall: 3 * leap, monotonic: 90_000)
        #expect(!clock.hasLeapt, "a new deviation")
    }

    @Test(arguments: [0, 1, StampClock.maximumJump]) func aRestartIsTrustedAtOnce(gap: Int64) {
        var clock = StampClock(wall: self.start + gap, monotonic: 0, mark: self.start)
        #expect(clock.read(wall: self.start + gap + 5, monotonic: 5) == .init(time: self.start + gap + 5, isTrusted: true))
    }

    @Test(arguments: [Self.year, -Self.year, StampClock.maximumJump + 1, -60_000]) func aRestartAfterALeapIsNotTrustedForAnHour(gap: Int64)
    {
        var clock = StampClock(wall: self.start + gap, monotonic: 0, mark: self.start)
        for time in [0, 60_000, StampClock.probationTime - 1] {
            #expect(clock.read(wall: self.start + gap + time, monotonic: time) == .init(time: self.start + gap + time, isTrusted: false))
        }
        let end = StampClock.probationTime
        #expect(clock.read(wall: self.start + gap + end, monotonic: end).isTrusted)
    }

    @Test func aRestartWithAWrongClockIsTrustedWhenTheClockReturns() {
        var clock = StampClock(wall: 0, monotonic: 0, mark: self.start)
        for time in stride(from: Int64(1_000), through: 11_000, by: 1_000) {
            _ = clock.read(wall: self.start + 60_000 + time, monotonic: time)
        }
        #expect(clock.read(wall: self.start + 72_000, monotonic: 12_000) == .init(time: self.start + 72_000, isTrusted: true))
    }

    @Test(arguments: [(Int64.min, Int64.max), (.max, .min), (.max, .max), (0, .min)]) func noMarkTraps(wall: Int64, mark: Int64) {
        var clock = StampClock(wall: wall, monotonic: 0, mark: mark)
        _ = clock.read(wall: mark, monotonic: 1)
        _ = clock.read(wall: wall, monotonic: 10_002)
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
