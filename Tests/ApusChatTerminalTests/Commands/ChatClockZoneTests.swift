import Foundation
import Testing

@testable import ApusChatTerminal

@Suite("Clock in a time zone")
struct ChatClockZoneTests {
    private func clock(_ zone: String, _ now: String) throws -> ChatClock {
        let date = try Date(now, strategy: .iso8601)
        let milliseconds = Int64(date.timeIntervalSince1970 * 1_000)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: zone))
        return ChatClock(now: { milliseconds }, calendar: calendar)
    }

    private func milliseconds(_ text: String) throws -> Int64 { Int64(try Date(text, strategy: .iso8601).timeIntervalSince1970 * 1_000) }

    @Test(arguments: [
        ("Asia/Shanghai", "18:00", "2026-11-24T10:00:00Z"), ("Asia/Shanghai", "2026-12-31T23:59", "2026-12-31T15:59:00Z"),
        ("America/New_York", "09:00", "2026-11-24T14:00:00Z"), ("Asia/Kolkata", "18:00", "2026-11-24T12:30:00Z"),
        ("Pacific/Auckland", "00:05", "2026-11-24T11:05:00Z"), ("UTC", "00:00", "2026-11-25T00:00:00Z"),
        ("UTC", "2028-02-29T00:00", "2028-02-29T00:00:00Z"), ("UTC", "2020-01-01T00:00", "2020-01-01T00:00:00Z"),
    ])
    func aTimeIsOfTheZone(zone: String, text: String, time: String) throws {
        let clock = try self.clock(zone, "2026-11-24T09:30:00Z")
        #expect(clock.parse(text) == (try self.milliseconds(time)))
    }

    @Test(arguments: [
        "2026-02-30T10:00", "2026-02-29T10:00", "2026-04-31T10:00", "2026-00-10T10:00", "2026-12-32T10:00", "1969-12-31T10:00",
        "10000-01-01T10:00",
        "2026-12-24T", "T10:00T", "2026-12-24T10", "2026-12-24T10:00T10:00", "2026-12-24 10:00", "2026-12-24T10:-1", "-1:00", "+1x",
        "+1.5h", "+h",
        "+ 1h", "+100000001",
    ])
    func daysThatDoNotExistAreNotTimes(text: String) throws {
        #expect(try self.clock("UTC", "2026-11-24T09:30:00Z").parse(text) == nil)
    }

    /// Summer time in Paris ends in the night of 2026-10-25 and begins in that of 2027-03-28.
    @Test func theNextTimeIsTheNextOnThatClock() throws {
        let autumn = try self.clock("Europe/Paris", "2026-10-24T21:00:00Z")  // 23:00
        #expect(autumn.parse("22:00") == (try self.milliseconds("2026-10-25T21:00:00Z")))
        let spring = try self.clock("Europe/Paris", "2027-03-27T22:00:00Z")  // 23:00
        #expect(spring.parse("22:00") == (try self.milliseconds("2027-03-28T20:00:00Z")))
    }

    @Test func wordsAreOfTheZone() throws {
        let clock = try self.clock("Asia/Shanghai", "2026-11-24T17:30:00Z")  // 01:30 of the next day
        #expect(clock.day(clock.now()) == "Wed 2026-11-25" && clock.time(clock.now()) == "01:30")
        #expect(clock.moment(try self.milliseconds("2026-11-24T16:00:00Z")) == "00:00")
        #expect(clock.moment(try self.milliseconds("2026-11-24T15:59:00Z")) == "Tue 2026-11-24 23:59")
    }

    @Test(arguments: [Int64(0), 9_007_199_254_740_991, .max, .min, -1])
    func anyStampOfAServerHasWords(stamp: Int64) throws {
        let clock = try self.clock("UTC", "2026-11-24T09:30:00Z")
        #expect(clock.time(stamp).count == 5 && clock.day(stamp).count >= 13 && !clock.moment(stamp).isEmpty)
    }

    @Test(
        arguments: [
            ("0", 0), ("45", 45), ("45s", 45), ("30m", 1_800), ("8h", 28_800), ("7d", 604_800), ("2w", 1_209_600),
            ("100000000", 100_000_000),
            ("100000001", nil), ("", nil), ("d", nil), ("-7d", nil), ("1y", nil), ("7D", nil), (" 7d", nil), ("７d", nil), ("1e3", nil),
        ] as [(String, Int64?)])
    func durationsAreRead(text: String, seconds: Int64?) { #expect(ChatClock.seconds(text) == seconds) }
}
